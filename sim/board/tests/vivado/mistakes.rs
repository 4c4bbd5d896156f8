//! Mistakes in scripts, pins and constraints, one at a time, and what the replay says of each.

use sim::switched::replace_once;

use crate::{folder, problems, replay_build, whole, Fault, Files, WITHOUT_NAMES};

/// What is wrong whatever the design is: seen without its names, which take most of a run.
const COMMAND_FAULTS: [Fault; 5] = [
    (
        "build.tcl",
        "    opt_design\n",
        "    opt_design -remap_all\n",
        "opt_design has no option -remap_all",
    ),
    (
        "build.tcl",
        "    route_design -directive",
        "    rout_design -directive",
        "unknown command rout_design",
    ),
    ("ip.tcl", "-module_name $module", "-module_name ${module}0", "no ip 'pcie4_uscale_plus_0'"),
    (
        "ip.tcl",
        "            -version $zeronic_core_versions($core) -module_name",
        "            -module_name",
        "create_ip without -version",
    ),
    ("board.tcl", "X1Y48~X1Y51", "X1Y48~X1Y50", "four transceivers"),
];

/// What is wrong for this design, or in its constraints, which are not read without it.
const NAME_FAULTS: [Fault; 13] = [
    (
        "build.tcl",
        "synth_design -top $zeronic_top",
        "synth_design -top zeronic_bank",
        "no module zeronic_bank",
    ),
    (
        "build.tcl",
        "crossings] $zeronic_card",
        "crossings] zeronic",
        "read_xdc -ref zeronic: no such cell",
    ),
    ("top.v", "cmac_usplus_0", "cmac_usplus_1", "no core cmac_usplus_1"),
    ("constraints/pins.xdc", "qsfp_rx_p[1]", "qsfp_rx_p[2]", "pins.xdc:6: no port 'qsfp_rx_p[2]'"),
    (
        "constraints/pins.xdc",
        "PACKAGE_PIN AL8",
        "PACKAGE_PIN AL9",
        "pin AL9 is that of pcie_refclk_p and pcie_refclk_n",
    ),
    (
        "constraints/pins.xdc",
        "set_property PACKAGE_PIN AV34 [get_ports { led[1] }]\n",
        "",
        "port led[1] has no pin",
    ),
    (
        "constraints/pins.xdc",
        "set_property PACKAGE_PIN W4 [get_ports { qsfp_rx_p[1] }]\n",
        "",
        "port qsfp_rx_n[1] has no pin",
    ),
    (
        "constraints/floorplan.xdc",
        "card/mac_receive",
        "card/mac_received",
        "no cell 'card/mac_received'",
    ),
    (
        "constraints/floorplan.xdc",
        "[get_pblocks pblock_mac] -add",
        "[get_pblocks pblock_core] -add",
        "no pblock 'pblock_core'",
    ),
    (
        "constraints/floorplan.xdc",
        "create_pblock pblock_mac\n",
        "foreach name {mac} { create_pblock pblock_$name }\n",
        "unknown command foreach",
    ),
    (
        "constraints/crossings.xdc",
        "set_max_delay -datapath_only -from [get_cells {datapath/rx_split/intake/gate/toggle_reg}]",
        "set_max_delay -from [get_cells {datapath/rx_split/intake/gate/toggle_reg}]",
        "crossing card/datapath/rx_split/intake/gate/toggle_seen/first_reg[0]/D: no set_max_delay",
    ),
    (
        "constraints/crossings.xdc",
        "set_bus_skew -from [get_cells {datapath/rx_split/intake/gate/held_reg[*]}]",
        "set_max_delay -from [get_cells {datapath/rx_split/intake/gate/held_reg[*]}]",
        "crossing card/datapath/rx_split/intake/gate/seen_reg[0]/D: no set_bus_skew ends there",
    ),
    (
        "constraints/crossings.xdc",
        "set_max_delay -datapath_only -from [get_clocks -of_objects [get_ports user_clk]] -to \
         [get_pins {mac_send/crossing/head_reg[*]/D}]",
        "set_max_delay -datapath_only -from [get_clocks -of_objects [get_ports user_clk]] -to \
         [get_pins {mac_send/crossing/head_reg[0]/D}]",
        "crossing card/mac_send/crossing/head_reg[1]/D: no set_max_delay ends there",
    ),
];

#[test]
fn each_mistake_is_seen() {
    let whole = whole();
    // A run takes one core; the machines have two at least.
    let commands = COMMAND_FAULTS.into_iter().map(|fault| (fault, &[WITHOUT_NAMES][..]));
    let names = NAME_FAULTS.into_iter().map(|fault| (fault, &[][..]));
    let numbered: Vec<_> = commands.chain(names).enumerate().collect();
    let (first, second): (Vec<_>, Vec<_>) =
        numbered.into_iter().partition(|(number, _)| number % 2 == 0);
    std::thread::scope(|scope| {
        for faults in [first, second] {
            scope.spawn(|| {
                for (number, (fault, variables)) in faults {
                    is_seen(&whole, number, fault, variables);
                }
            });
        }
    });
}

/// One mistake, and what is said of it.
fn is_seen(
    whole: &Files,
    number: usize,
    (file, from, to, said): Fault,
    variables: &[(&str, &str)],
) {
    let mut files = whole.clone();
    let text = files.get_mut(file).expect(file);
    *text = replace_once(text, from, to);
    let name = format!("vivado_fault_{number}");
    let (code, text) = replay_build(&name, &files, variables);
    let found = problems(&text);
    assert_eq!(code, Some(1), "{said}\n{text}");
    assert!(found.iter().any(|it| it.contains(said)), "{said}: {found:#?}");
    std::fs::remove_dir_all(folder(&name)).expect("a folder");
}

/// Synthesis makes the top bits of `read_gray` and `read_pointer` one register, which then bears
/// either name: a line that begins at one of the two may hold nothing.
#[test]
fn unpaired_gray_pointer_register_is_found() {
    let mut files = whole();
    let text = files.get_mut("constraints/crossings.xdc").expect("a file");
    assert!(text.contains(" mac_send/crossing/read_pointer_reg[4]}"));
    *text = text.replace(" mac_send/crossing/read_pointer_reg[4]}", "}");
    let (code, text) = replay_build("vivado_gray", &files, &[]);
    let said = "does not begin at card/mac_send/crossing/read_pointer_reg[4]";
    for command in ["set_max_delay", "set_bus_skew"] {
        let said = format!("{command} {said}");
        assert!(problems(&text).iter().any(|it| it.contains(&said)), "{text}");
    }
    assert_eq!(code, Some(1), "{text}");
}
