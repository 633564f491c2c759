//! Schedule trees as YAML, the form in which they are saved and loaded.

use crate::runtime::{Context, Result};
use crate::{Schedule, ScheduleNode};

object! {
    private
    /// isl's printer, writing to a string.
    Printer, "isl_printer_"
}

/// `ISL_YAML_STYLE_BLOCK`: one node per line, indented.
const BLOCK: i32 = 0;

bind! { Printer;
    fn to_string = "isl_printer_to_str"(context: &Context) -> Printer;
    fn set_yaml_style = "isl_printer_set_yaml_style"(self, style: i32) -> Printer;
    fn print_schedule = "isl_printer_print_schedule"(self, schedule: &Schedule) -> Printer;
    fn print_node = "isl_printer_print_schedule_node"(self, node: &ScheduleNode) -> Printer;
    fn get_str = "isl_printer_get_str"(&self) -> String;
}

impl Schedule {
    /// The tree as indented YAML, which [`Schedule::read_from_yaml`] reads back.
    pub fn to_yaml(&self) -> Result<String> {
        let printer = Printer::to_string(self.context())?.set_yaml_style(BLOCK)?;
        printer.print_schedule(self)?.get_str()
    }

    /// Reads a tree. Text that is too long, too deep or not used up is refused.
    pub fn read_from_yaml(context: &Context, text: &str) -> Result<Schedule> {
        Schedule::read_from_str(context, text)
    }
}

impl ScheduleNode {
    /// The whole tree as indented YAML, with this position marked.
    pub fn to_yaml(&self) -> Result<String> {
        let printer = Printer::to_string(self.context())?.set_yaml_style(BLOCK)?;
        printer.print_node(self)?.get_str()
    }
}
