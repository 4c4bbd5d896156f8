# The commands of Vivado that our scripts and constraints use, each with its options and its place
# in UG835 (Vivado Tcl Command Reference, chapter 3, by category).
#
#   vivado_command NAME CATEGORY FLAGS VALUES ARGUMENTS
#
# FLAGS are options without a value, VALUES those with one, ARGUMENTS the fewest and the most words
# that are neither. What is not here is an error of the script that uses it: the list holds what we
# use and no more, so that a new option is looked up once. `-quiet` and `-verbose` are options of all.

vivado_command add_cells_to_pblock Floorplan               {}            {} {2 2}
vivado_command check_timing        {Report, Timing}        {-return_string} {-file} {0 0}
vivado_command create_clock        {SDC, XDC}              {-add}        {-period -name -waveform} {1 1}
vivado_command create_ip           IPFlow \
    {-force} {-name -vendor -library -version -module_name -dir} {0 0}
vivado_command create_pblock       {Floorplan, XDC}        {}            {} {1 1}
vivado_command create_project      Project                 {-in_memory}  {-part} {0 2}
vivado_command current_design      {Project, XDC}          {}            {} {0 0}
vivado_command generate_target     {Project, IPFlow}       {-force}      {} {2 2}
vivado_command get_cells           {SDC, XDC, Object}      {-hierarchical} {-filter -of_objects} {0 1}
vivado_command get_clocks          {SDC, XDC, Object}      {}            {-of_objects} {0 1}
vivado_command get_files           {Object, Project}       {}            {} {1 1}
vivado_command get_ips             {Object, Project, IPFlow} {}          {} {1 1}
vivado_command get_nets            {SDC, XDC, Object}      {}            {} {1 1}
vivado_command get_pblocks         {Object, Floorplan, XDC} {}           {} {1 1}
vivado_command get_pins            {SDC, XDC, Object}      {}            {} {1 1}
vivado_command get_ports           {SDC, XDC, Object}      {}            {} {1 1}
vivado_command get_property        {Object, PropertyAndParameter} {}     {} {2 2}
vivado_command get_timing_paths    {Object, Timing}        {-setup -hold} {-max_paths -to} {0 0}
vivado_command open_checkpoint     {FileIO, Project}       {}            {} {1 1}
vivado_command opt_design          Tools                   {}            {-directive} {0 0}
vivado_command phys_opt_design     Tools                   {}            {-directive} {0 0}
vivado_command place_design        Tools                   {}            {-directive} {0 0}
vivado_command read_ip             {Project, IPFlow}       {}            {} {1 1}
vivado_command read_verilog        FileIO                  {-sv}         {-library} {1 1}
vivado_command read_xdc            FileIO                  {-unmanaged}  {-cells -ref} {1 1}
vivado_command report_bus_skew     {Report, Timing}        {-return_string} {-file} {0 0}
vivado_command report_cdc          {Report, Timing}        {-details -return_string} \
    {-severity -file} {0 0}
vivado_command report_design_analysis {Report, Timing}     {-logic_level_distribution} {-file} {0 0}
vivado_command report_drc          {Report, DRC}           {-return_string} {-checks -file} {0 0}
vivado_command report_exceptions   {Report, Timing}        {}            {-file} {0 0}
vivado_command report_methodology  Report                  {}            {-file} {0 0}
vivado_command report_route_status Report                  {}            {-file} {0 0}
vivado_command report_timing_summary {Report, Timing}      {}            {-file} {0 0}
vivado_command report_utilization  Report                  {-slr -hierarchical -return_string} \
    {-file} {0 0}
vivado_command resize_pblock       {Floorplan, XDC}        {}            {-add} {1 1}
vivado_command route_design        Tools                   {}            {-directive} {0 0}
vivado_command set_bus_skew        XDC                     {}            {-from -to} {1 1}
vivado_command set_false_path      {SDC, XDC}              {}            {-from -to -through} {0 0}
vivado_command set_max_delay       {SDC, XDC}              {-datapath_only} {-from -to} {1 1}
vivado_command set_param           PropertyAndParameter    {}            {} {2 2}
vivado_command set_property        {Object, Project, PropertyAndParameter, XDC} \
    {} {-dict} {1 3}
vivado_command synth_design        Tools                   {} \
    {-top -part -flatten_hierarchy -verilog_define -generic -mode} {0 0}
vivado_command synth_ip            Tools                   {-force}      {} {1 1}
vivado_command version             Project                 {-short}      {} {0 0}
vivado_command write_bitstream     FileIO                  {-force}      {} {1 1}
vivado_command write_cfgmem        FileIO                  {-force} \
    {-format -size -interface -loadbit -file} {0 0}
vivado_command write_checkpoint    FileIO                  {-force}      {} {1 1}
vivado_command write_verilog       FileIO                  {-force}      {-mode} {1 1}

# A file of constraints may use these commands of Tcl beside the ones above (UG903): no loops, no
# conditions, no procedures.
set vivado_constraint_words {set list expr}
