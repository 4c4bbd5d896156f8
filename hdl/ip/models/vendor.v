// Zeronic: the vendor's blocks for simulators and linters, as far as the tops use them. Synthesis
// takes the vendor's own.
`timescale 1ps / 1ps
/* verilator lint_off UNUSEDSIGNAL */
/* verilator lint_off UNUSEDPARAM */
/* verilator lint_off DECLFILENAME */
/* verilator lint_off VARHIDDEN */

// Differential pads of a transceiver's reference clock.
module IBUFDS_GTE4 #(
    parameter [1:0] REFCLK_HROW_CK_SEL = 2'b00
) (
    input  wire I,
    input  wire IB,
    input  wire CEB,
    output wire O,
    output wire ODIV2
);
    assign O = I & ~CEB;
    assign ODIV2 = I & ~CEB;
endmodule

// Differential pads.
module IBUFDS (
    input  wire I,
    input  wire IB,
    output wire O
);
    assign O = I;
endmodule

// Clock buffer.
module BUFGCE (
    input  wire I,
    input  wire CE,
    output wire O
);
    assign O = I & CE;
endmodule

// Maker of clocks: gives its input on, whatever it is to make of it, and locks sixteen cycles later.
module MMCME4_BASE #(
    parameter real    CLKIN1_PERIOD = 0.0,
    parameter integer DIVCLK_DIVIDE = 1,
    parameter real    CLKFBOUT_MULT_F = 5.0,
    parameter real    CLKOUT0_DIVIDE_F = 1.0
) (
    input  wire CLKIN1,
    input  wire CLKFBIN,
    input  wire RST,
    input  wire PWRDWN,
    output wire CLKFBOUT,
    output wire CLKFBOUTB,
    output wire CLKOUT0,
    output wire CLKOUT0B,
    output wire CLKOUT1,
    output wire CLKOUT1B,
    output wire CLKOUT2,
    output wire CLKOUT2B,
    output wire CLKOUT3,
    output wire CLKOUT3B,
    output wire CLKOUT4,
    output wire CLKOUT5,
    output wire CLKOUT6,
    output wire LOCKED
);
    reg [4:0] cycles;
    initial cycles = 5'd0;
    always @(posedge CLKIN1) if (~cycles[4]) cycles <= cycles + 5'd1;
    assign CLKFBOUT = CLKIN1;
    assign CLKFBOUTB = ~CLKIN1;
    assign CLKOUT0 = CLKIN1 & ~PWRDWN;
    assign CLKOUT0B = ~CLKIN1;
    assign CLKOUT1 = 1'b0;
    assign CLKOUT1B = 1'b0;
    assign CLKOUT2 = 1'b0;
    assign CLKOUT2B = 1'b0;
    assign CLKOUT3 = 1'b0;
    assign CLKOUT3B = 1'b0;
    assign CLKOUT4 = 1'b0;
    assign CLKOUT5 = 1'b0;
    assign CLKOUT6 = 1'b0;
    assign LOCKED = cycles[4] & ~RST;
endmodule

// Pad that is driven or not.
module IOBUF (
    inout  wire IO,
    input  wire I,
    input  wire T,
    output wire O
);
    assign IO = T ? 1'bz : I;
    assign O = IO;
endmodule

// Pins of the device's own flash: what a test does not drive is high.
module STARTUPE3 #(
    parameter PROG_USR = "FALSE",
    parameter SIM_CCLK_FREQ = 0.0
) (
    output wire       CFGCLK,
    output wire       CFGMCLK,
    output reg  [3:0] DI,
    output wire       EOS,
    output wire       PREQ,
    input  wire [3:0] DO,
    input  wire [3:0] DTS,
    input  wire       FCSBO,
    input  wire       FCSBTS,
    input  wire       GSR,
    input  wire       GTS,
    input  wire       KEYCLEARB,
    input  wire       PACK,
    input  wire       USRCCLKO,
    input  wire       USRCCLKTS,
    input  wire       USRDONEO,
    input  wire       USRDONETS
);
    initial DI = 4'hf;
    assign CFGCLK = 1'b0;
    assign CFGMCLK = 1'b0;
    assign EOS = 1'b1;
    assign PREQ = 1'b0;
endmodule

// Configuration port: keeps the address of a load, and answers a read of BOOTSTS with `BOOTED`
// four clocks after it was selected.
module ICAPE3 #(
    parameter ICAP_AUTO_SWITCH = "DISABLE",
    parameter [31:0] BOOTED = 32'h00000001
) (
    input  wire        CLK,
    input  wire        CSIB,
    input  wire        RDWRB,
    input  wire [31:0] I,
    output reg  [31:0] O,
    output wire        AVAIL,
    output wire        PRDONE,
    output wire        PRERROR
);
    function [31:0] turned(input [31:0] word);
        integer at;
        for (at = 0; at < 32; at = at + 1) turned[at] = word[at / 8 * 8 + 7 - at % 8];
    endfunction
    wire [31:0] word = turned(I);
    reg         synced;
    reg  [4:0]  register;
    reg         expects;
    reg  [31:0] address;
    reg         loads;
    reg         wanted;
    reg  [3:0]  clocks;
    initial begin
        synced = 1'b0;
        register = 5'd0;
        expects = 1'b0;
        address = 32'd0;
        loads = 1'b0;
        wanted = 1'b0;
        clocks = 4'd0;
        O = 32'hffffffff;
    end
    always @(posedge CLK) begin
        clocks <= CSIB ? 4'd0 : clocks + 4'd1;
        if (~CSIB & RDWRB) begin
            if (clocks >= 4'd3) O <= turned(synced & wanted ? BOOTED : 32'hffffffff);
        end else if (~CSIB) begin
            expects <= 1'b0;
            if (word == 32'haa995566) synced <= 1'b1;
            else if (synced & expects) begin
                if (register == 5'h10) address <= word;
                if (register == 5'h04 & word == 32'h0000000f) loads <= 1'b1;
                if (register == 5'h04 & word == 32'h0000000d) synced <= 1'b0;
            end else if (synced & word[31:27] == 5'b00110) begin
                register <= word[17:13];
                expects <= 1'b1;
            end else if (synced & word[31:27] == 5'b00101) wanted <= word[17:13] == 5'h16;
        end
    end
    assign AVAIL = 1'b1;
    assign PRDONE = 1'b1;
    assign PRERROR = 1'b0;
endmodule

// System monitor: answers four cycles later, register 0 with 40 degrees, the others with their
// number.
module SYSMONE4 #(
    parameter [15:0] INIT_42 = 16'h0000
) (
    input  wire        DCLK,
    input  wire [7:0]  DADDR,
    input  wire        DEN,
    input  wire        DWE,
    input  wire [15:0] DI,
    output reg  [15:0] DO,
    output wire        DRDY,
    input  wire        RESET,
    input  wire        CONVST,
    input  wire        CONVSTCLK,
    input  wire [15:0] VAUXN,
    input  wire [15:0] VAUXP,
    input  wire        VN,
    input  wire        VP,
    input  wire        I2C_SCLK,
    input  wire        I2C_SDA,
    output wire        I2C_SCLK_TS,
    output wire        I2C_SDA_TS,
    output wire        SMBALERT_TS,
    output wire [15:0] ADC_DATA,
    output wire [15:0] ALM,
    output wire        BUSY,
    output wire [5:0]  CHANNEL,
    output wire        EOC,
    output wire        EOS,
    output wire        JTAGBUSY,
    output wire        JTAGLOCKED,
    output wire        JTAGMODIFIED,
    output wire [4:0]  MUXADDR,
    output wire        OT
);
    reg [3:0] wait_for;
    initial begin
        DO = 16'd0;
        wait_for = 4'd0;
    end
    always @(posedge DCLK) begin
        wait_for <= {wait_for[2:0], DEN};
        if (DEN) DO <= DADDR == 8'd0 ? 16'h9d9a : {8'd0, DADDR};
    end
    assign DRDY = wait_for[3];
    assign I2C_SCLK_TS = 1'b1;
    assign I2C_SDA_TS = 1'b1;
    assign SMBALERT_TS = 1'b1;
    assign ADC_DATA = 16'd0;
    assign ALM = 16'd0;
    assign BUSY = 1'b0;
    assign CHANNEL = 6'd0;
    assign EOC = 1'b0;
    assign EOS = 1'b0;
    assign JTAGBUSY = 1'b0;
    assign JTAGLOCKED = 1'b0;
    assign JTAGMODIFIED = 1'b0;
    assign MUXADDR = 5'd0;
    assign OT = 1'b0;
endmodule

// PCIe core: the link is up as soon as PERST# is high, and nobody asks anything. The user clock is
// the slot's clock.
module PCIE_CORE_0 (
    output wire [15:0] pci_exp_txn,
    output wire [15:0] pci_exp_txp,
    input  wire [15:0] pci_exp_rxn,
    input  wire [15:0] pci_exp_rxp,
    output wire user_clk,
    output wire user_reset,
    output wire user_lnk_up,
    input  wire [511:0] s_axis_rq_tdata,
    input  wire [15:0] s_axis_rq_tkeep,
    input  wire [136:0] s_axis_rq_tuser,
    input  wire s_axis_rq_tvalid,
    input  wire s_axis_rq_tlast,
    output wire [3:0] s_axis_rq_tready,
    output wire [511:0] m_axis_rc_tdata,
    output wire [15:0] m_axis_rc_tkeep,
    output wire [160:0] m_axis_rc_tuser,
    output wire m_axis_rc_tvalid,
    output wire m_axis_rc_tlast,
    input  wire m_axis_rc_tready,
    output wire [511:0] m_axis_cq_tdata,
    output wire [15:0] m_axis_cq_tkeep,
    output wire [182:0] m_axis_cq_tuser,
    output wire m_axis_cq_tvalid,
    output wire m_axis_cq_tlast,
    input  wire m_axis_cq_tready,
    input  wire [511:0] s_axis_cc_tdata,
    input  wire [15:0] s_axis_cc_tkeep,
    input  wire [80:0] s_axis_cc_tuser,
    input  wire s_axis_cc_tvalid,
    input  wire s_axis_cc_tlast,
    output wire [3:0] s_axis_cc_tready,
    output wire [5:0] pcie_rq_seq_num0,
    output wire pcie_rq_seq_num_vld0,
    output wire [5:0] pcie_rq_seq_num1,
    output wire pcie_rq_seq_num_vld1,
    output wire [1:0] cfg_max_payload,
    output wire [2:0] cfg_max_read_req,
    output wire [3:0] cfg_rcb_status,
    output wire [15:0] cfg_function_status,
    output wire [3:0] cfg_flr_in_process,
    input  wire [3:0] cfg_flr_done,
    output wire [3:0] cfg_interrupt_msix_enable,
    output wire [3:0] cfg_interrupt_msix_mask,
    input  wire [2:0] cfg_fc_sel,
    output wire [7:0] cfg_fc_ph,
    output wire [11:0] cfg_fc_pd,
    input  wire [9:0] cfg_mgmt_addr,
    input  wire [7:0] cfg_mgmt_function_number,
    input  wire cfg_mgmt_read,
    output wire [31:0] cfg_mgmt_read_data,
    output wire cfg_mgmt_read_write_done,
    input  wire cfg_mgmt_write,
    input  wire [31:0] cfg_mgmt_write_data,
    input  wire [3:0] cfg_mgmt_byte_enable,
    input  wire cfg_mgmt_debug_access,
    output wire [7:0] pcie_rq_tag0,
    output wire [7:0] pcie_rq_tag1,
    output wire [3:0] pcie_rq_tag_av,
    output wire pcie_rq_tag_vld0,
    output wire pcie_rq_tag_vld1,
    output wire [3:0] pcie_tfc_nph_av,
    output wire [3:0] pcie_tfc_npd_av,
    output wire [5:0] pcie_cq_np_req_count,
    output wire cfg_phy_link_down,
    output wire [1:0] cfg_phy_link_status,
    output wire [2:0] cfg_negotiated_width,
    output wire [1:0] cfg_current_speed,
    output wire [11:0] cfg_function_power_state,
    output wire [503:0] cfg_vf_status,
    output wire [755:0] cfg_vf_power_state,
    output wire [1:0] cfg_link_power_state,
    output wire cfg_err_cor_out,
    output wire cfg_err_nonfatal_out,
    output wire cfg_err_fatal_out,
    output wire cfg_local_error_valid,
    output wire [4:0] cfg_local_error_out,
    output wire [5:0] cfg_ltssm_state,
    output wire [1:0] cfg_rx_pm_state,
    output wire [1:0] cfg_tx_pm_state,
    output wire [1:0] cfg_obff_enable,
    output wire cfg_pl_status_change,
    output wire [3:0] cfg_tph_requester_enable,
    output wire [11:0] cfg_tph_st_mode,
    output wire [251:0] cfg_vf_tph_requester_enable,
    output wire [755:0] cfg_vf_tph_st_mode,
    output wire cfg_msg_received,
    output wire [7:0] cfg_msg_received_data,
    output wire [4:0] cfg_msg_received_type,
    output wire cfg_msg_transmit_done,
    output wire [7:0] cfg_fc_nph,
    output wire [11:0] cfg_fc_npd,
    output wire [7:0] cfg_fc_cplh,
    output wire [11:0] cfg_fc_cpld,
    output wire cfg_power_state_change_interrupt,
    output wire [251:0] cfg_vf_flr_in_process,
    output wire cfg_interrupt_sent,
    output wire [251:0] cfg_interrupt_msix_vf_enable,
    output wire [251:0] cfg_interrupt_msix_vf_mask,
    output wire cfg_interrupt_msix_vec_pending_status,
    output wire cfg_interrupt_msi_sent,
    output wire cfg_interrupt_msi_fail,
    output wire cfg_hot_reset_out,
    output wire phy_rdy_out,
    input  wire [1:0] pcie_cq_np_req,
    input  wire cfg_msg_transmit,
    input  wire [2:0] cfg_msg_transmit_type,
    input  wire [31:0] cfg_msg_transmit_data,
    input  wire [63:0] cfg_dsn,
    input  wire cfg_power_state_change_ack,
    input  wire cfg_err_cor_in,
    input  wire cfg_err_uncor_in,
    input  wire [7:0] cfg_vf_flr_func_num,
    input  wire cfg_vf_flr_done,
    input  wire cfg_link_training_enable,
    input  wire [3:0] cfg_interrupt_int,
    input  wire [3:0] cfg_interrupt_pending,
    input  wire [63:0] cfg_interrupt_msix_address,
    input  wire [31:0] cfg_interrupt_msix_data,
    input  wire cfg_interrupt_msix_int,
    input  wire [1:0] cfg_interrupt_msix_vec_pending,
    input  wire [7:0] cfg_interrupt_msi_function_number,
    input  wire cfg_pm_aspm_l1_entry_reject,
    input  wire cfg_pm_aspm_tx_l0s_entry_disable,
    input  wire cfg_config_space_enable,
    input  wire cfg_req_pm_transition_l23_ready,
    input  wire cfg_hot_reset_in,
    input  wire [7:0] cfg_ds_port_number,
    input  wire [7:0] cfg_ds_bus_number,
    input  wire [4:0] cfg_ds_device_number,
    input  wire sys_clk,
    input  wire sys_clk_gt,
    input  wire sys_reset
);
    reg in_reset;
    initial in_reset = 1'b1;
    always @(posedge sys_clk) in_reset <= ~sys_reset;
    assign pci_exp_txn = 16'd0;
    assign pci_exp_txp = 16'd0;
    assign user_clk = sys_clk;
    assign user_reset = in_reset;
    assign user_lnk_up = ~in_reset;
    assign s_axis_rq_tready = {4{~in_reset}};
    assign m_axis_rc_tdata = 512'd0;
    assign m_axis_rc_tkeep = 16'd0;
    assign m_axis_rc_tuser = 161'd0;
    assign m_axis_rc_tvalid = 1'd0;
    assign m_axis_rc_tlast = 1'd0;
    assign m_axis_cq_tdata = 512'd0;
    assign m_axis_cq_tkeep = 16'd0;
    assign m_axis_cq_tuser = 183'd0;
    assign m_axis_cq_tvalid = 1'd0;
    assign m_axis_cq_tlast = 1'd0;
    assign s_axis_cc_tready = {4{~in_reset}};
    assign pcie_rq_seq_num0 = 6'd0;
    assign pcie_rq_seq_num_vld0 = 1'd0;
    assign pcie_rq_seq_num1 = 6'd0;
    assign pcie_rq_seq_num_vld1 = 1'd0;
    assign cfg_max_payload = 2'd1;
    assign cfg_max_read_req = 3'd2;
    assign cfg_rcb_status = 4'd1;
    assign cfg_function_status = 16'h0007;
    assign cfg_flr_in_process = 4'd0;
    assign cfg_interrupt_msix_enable = 4'd0;
    assign cfg_interrupt_msix_mask = 4'd0;
    assign cfg_fc_ph = 8'hff;
    assign cfg_fc_pd = 12'hfff;
    assign cfg_mgmt_read_data = 32'd0;
    assign cfg_mgmt_read_write_done = cfg_mgmt_read;
    assign pcie_rq_tag0 = 8'd0;
    assign pcie_rq_tag1 = 8'd0;
    assign pcie_rq_tag_av = 4'd0;
    assign pcie_rq_tag_vld0 = 1'd0;
    assign pcie_rq_tag_vld1 = 1'd0;
    assign pcie_tfc_nph_av = 4'hf;
    assign pcie_tfc_npd_av = 4'hf;
    assign pcie_cq_np_req_count = 6'h20;
    assign cfg_phy_link_down = 1'd0;
    assign cfg_phy_link_status = in_reset ? 2'd0 : 2'd3;
    assign cfg_negotiated_width = 3'd4;
    assign cfg_current_speed = 2'd2;
    assign cfg_function_power_state = 12'h001;
    assign cfg_vf_status = 504'd0;
    assign cfg_vf_power_state = 756'd0;
    assign cfg_link_power_state = 2'd0;
    assign cfg_err_cor_out = 1'd0;
    assign cfg_err_nonfatal_out = 1'd0;
    assign cfg_err_fatal_out = 1'd0;
    assign cfg_local_error_valid = 1'd0;
    assign cfg_local_error_out = 5'd0;
    assign cfg_ltssm_state = in_reset ? 6'h00 : 6'h10;
    assign cfg_rx_pm_state = 2'd0;
    assign cfg_tx_pm_state = 2'd0;
    assign cfg_obff_enable = 2'd0;
    assign cfg_pl_status_change = 1'd0;
    assign cfg_tph_requester_enable = 4'd0;
    assign cfg_tph_st_mode = 12'd0;
    assign cfg_vf_tph_requester_enable = 252'd0;
    assign cfg_vf_tph_st_mode = 756'd0;
    assign cfg_msg_received = 1'd0;
    assign cfg_msg_received_data = 8'd0;
    assign cfg_msg_received_type = 5'd0;
    assign cfg_msg_transmit_done = 1'd0;
    assign cfg_fc_nph = 8'd0;
    assign cfg_fc_npd = 12'd0;
    assign cfg_fc_cplh = 8'd0;
    assign cfg_fc_cpld = 12'd0;
    assign cfg_power_state_change_interrupt = 1'd0;
    assign cfg_vf_flr_in_process = 252'd0;
    assign cfg_interrupt_sent = 1'd0;
    assign cfg_interrupt_msix_vf_enable = 252'd0;
    assign cfg_interrupt_msix_vf_mask = 252'd0;
    assign cfg_interrupt_msix_vec_pending_status = 1'd0;
    assign cfg_interrupt_msi_sent = 1'd0;
    assign cfg_interrupt_msi_fail = 1'd0;
    assign cfg_hot_reset_out = 1'd0;
    assign phy_rdy_out = ~in_reset;
endmodule

// MAC core: registers for enables (0x000c, 0x0014), loopback (0x0090), version (0x0024) and state
// of the receiver (0x0204). Aligned while receive is enabled. In loopback, what is sent is received.
module cmac_usplus_0 (
    input  wire [31:0] s_axi_awaddr,
    input  wire s_axi_awvalid,
    output wire s_axi_awready,
    input  wire [31:0] s_axi_wdata,
    input  wire [3:0] s_axi_wstrb,
    input  wire s_axi_wvalid,
    output wire s_axi_wready,
    output wire [1:0] s_axi_bresp,
    output reg  s_axi_bvalid,
    input  wire s_axi_bready,
    input  wire [31:0] s_axi_araddr,
    input  wire s_axi_arvalid,
    output wire s_axi_arready,
    output reg  [31:0] s_axi_rdata,
    output wire [1:0] s_axi_rresp,
    output reg  s_axi_rvalid,
    input  wire s_axi_rready,
    input  wire [3:0] gt_rxp_in,
    input  wire [3:0] gt_rxn_in,
    input  wire [11:0] gt_loopback_in,
    input  wire pm_tick,
    input  wire [8:0] ctl_tx_pause_req,
    input  wire ctl_tx_resend_pause,
    input  wire gt_ref_clk_p,
    input  wire gt_ref_clk_n,
    input  wire rx_clk,
    input  wire sys_reset,
    input  wire core_rx_reset,
    input  wire core_tx_reset,
    input  wire gtwiz_reset_tx_datapath,
    input  wire gtwiz_reset_rx_datapath,
    input  wire init_clk,
    input  wire s_axi_aclk,
    input  wire s_axi_sreset,
    input  wire [511:0] tx_axis_tdata,
    input  wire [63:0] tx_axis_tkeep,
    input  wire tx_axis_tvalid,
    input  wire tx_axis_tlast,
    input  wire tx_axis_tuser,
    input  wire [55:0] tx_preamblein,
    input  wire ctl_tx_send_idle,
    input  wire ctl_tx_send_rfi,
    input  wire ctl_tx_send_lfi,
    input  wire core_drp_reset,
    input  wire drp_clk,
    input  wire [9:0] drp_addr,
    input  wire [15:0] drp_di,
    input  wire drp_en,
    input  wire drp_we,
    output wire [3:0] gt_txp_out,
    output wire [3:0] gt_txn_out,
    output wire [3:0] gt_powergoodout,
    output wire gt_ref_clk_out,
    output wire [3:0] gt_rxrecclkout,
    output wire gt_rxusrclk2,
    output wire gt_txusrclk2,
    output wire usr_rx_reset,
    output wire usr_tx_reset,
    output reg  [511:0] rx_axis_tdata,
    output reg  [63:0] rx_axis_tkeep,
    output reg  rx_axis_tvalid,
    output reg  rx_axis_tlast,
    output reg  rx_axis_tuser,
    output wire [55:0] rx_preambleout,
    output wire tx_axis_tready,
    output wire tx_ovfout,
    output wire tx_unfout,
    output wire stat_rx_aligned,
    output wire stat_rx_local_fault,
    output wire stat_rx_remote_fault,
    output wire [8:0] stat_rx_pause_req,
    output wire [15:0] drp_do,
    output wire drp_rdy
);
    reg tx_enable;
    reg rx_enable;
    reg loopback;
    reg reset;
    initial begin
        tx_enable = 1'b0;
        rx_enable = 1'b0;
        loopback = 1'b0;
        reset = 1'b1;
        rx_axis_tdata = 512'd0;
        rx_axis_tkeep = 64'd0;
        rx_axis_tvalid = 1'b0;
        rx_axis_tlast = 1'b0;
        rx_axis_tuser = 1'b0;
        s_axi_rdata = 32'd0;
        s_axi_rvalid = 1'b0;
        s_axi_bvalid = 1'b0;
    end
    wire write = s_axi_awvalid & s_axi_wvalid & ~s_axi_bvalid;
    wire read = s_axi_arvalid & ~s_axi_rvalid;
    always @(posedge s_axi_aclk) begin
        s_axi_bvalid <= write | (s_axi_bvalid & ~s_axi_bready);
        s_axi_rvalid <= read | (s_axi_rvalid & ~s_axi_rready);
        if (write) begin
            case (s_axi_awaddr[11:0])
                12'h00c: tx_enable <= s_axi_wdata[0];
                12'h014: rx_enable <= s_axi_wdata[0];
                12'h090: loopback <= s_axi_wdata[0];
                default: ;
            endcase
        end
        if (read) begin
            case (s_axi_araddr[11:0])
                12'h00c: s_axi_rdata <= {31'd0, tx_enable};
                12'h014: s_axi_rdata <= {31'd0, rx_enable};
                12'h024: s_axi_rdata <= 32'h00000301;
                12'h090: s_axi_rdata <= {31'd0, loopback};
                12'h204: s_axi_rdata <= {30'd0, rx_enable, rx_enable};
                default: s_axi_rdata <= 32'd0;
            endcase
        end
        if (s_axi_sreset) begin
            tx_enable <= 1'b0;
            rx_enable <= 1'b0;
            loopback <= 1'b0;
            s_axi_bvalid <= 1'b0;
            s_axi_rvalid <= 1'b0;
        end
    end
    always @(posedge gt_ref_clk_p) begin
        reset <= sys_reset;
        rx_axis_tdata <= tx_axis_tdata;
        rx_axis_tkeep <= tx_axis_tkeep;
        rx_axis_tvalid <= tx_axis_tvalid & tx_axis_tready & loopback & rx_enable;
        rx_axis_tlast <= tx_axis_tlast;
        rx_axis_tuser <= tx_axis_tuser;
    end
    assign s_axi_awready = write;
    assign s_axi_wready = write;
    assign s_axi_bresp = 2'd0;
    assign s_axi_arready = read;
    assign s_axi_rresp = 2'd0;
    assign gt_txp_out = 4'd0;
    assign gt_txn_out = 4'd0;
    assign gt_powergoodout = 4'hf;
    assign gt_ref_clk_out = gt_ref_clk_p;
    assign gt_rxrecclkout = {4{gt_ref_clk_p}};
    assign gt_rxusrclk2 = gt_ref_clk_p;
    assign gt_txusrclk2 = gt_ref_clk_p;
    assign usr_rx_reset = reset;
    assign usr_tx_reset = reset;
    assign rx_preambleout = 56'd0;
    assign tx_axis_tready = tx_enable & ~reset;
    assign tx_ovfout = 1'd0;
    assign tx_unfout = 1'd0;
    assign stat_rx_aligned = rx_enable & ~reset;
    assign stat_rx_local_fault = ~rx_enable;
    assign stat_rx_remote_fault = 1'd0;
    assign stat_rx_pause_req = 9'd0;
    assign drp_do = 16'd0;
    assign drp_rdy = 1'd0;
endmodule
