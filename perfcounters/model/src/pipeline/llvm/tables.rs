//! Reads what `llvm-mca -instruction-tables=full` prints: what each instruction costs on a processor.

use super::assembly::{Line, TARGET};
use super::program::{Llvm, LlvmError};

/// The most units of a processor: they are the bits of a set.
const MOST_UNITS: usize = 64;

/// Units of which a micro-operation occupies one for a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pipeline) struct Use {
    /// The units, a bit each.
    pub units: u64,
    /// How many micro-operations take one of them, or how many cycles one of them does.
    pub count: u32,
}

/// The costs of one instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::pipeline) struct Row {
    /// Micro-operations.
    pub micro_ops: u32,
    /// Cycles until the last result, with a load from L1.
    pub latency: u32,
    /// The units that it occupies.
    pub uses: Vec<Use>,
}

/// A named resource: one unit, several units of one name, or a group of other resources.
struct Resource {
    name: String,
    units: u64,
}

/// Asks `llvm-mca` for the costs of `lines` on the processor `mcpu`, in the same order.
///
/// # Errors
/// `llvm-mca` failed, does not know the processor or an instruction, or printed something else than tables.
pub(in crate::pipeline) fn instruction_tables(
    llvm: &Llvm,
    mcpu: &str,
    lines: &[Line],
) -> Result<Vec<Row>, LlvmError> {
    let text: String = lines
        .iter()
        .flat_map(|line| [line.text.as_str(), "\n"])
        .collect();
    let cpu = format!("-mcpu={mcpu}");
    let output = llvm.run(
        "llvm-mca",
        &["-mtriple", TARGET, &cpu, "-instruction-tables=full"],
        &text,
    )?;
    parse(&output, lines.len())
}

/// Asks `llvm-mca` how many micro-operations the processor `mcpu` renames per cycle.
///
/// # Errors
/// `llvm-mca` failed, does not know the processor, or printed no width.
pub(in crate::pipeline) fn dispatch_width(llvm: &Llvm, mcpu: &str) -> Result<u32, LlvmError> {
    let cpu = format!("-mcpu={mcpu}");
    let output = llvm.run(
        "llvm-mca",
        &["-mtriple", TARGET, &cpu, "-iterations=1"],
        "nop\n",
    )?;
    output
        .lines()
        .find_map(|line| line.strip_prefix("Dispatch Width:"))
        .and_then(|width| width.trim().parse().ok())
        .filter(|width| *width > 0)
        .ok_or_else(|| malformed("no dispatch width"))
}

fn malformed(problem: impl Into<String>) -> LlvmError {
    LlvmError::Malformed {
        program: "llvm-mca".to_owned(),
        problem: problem.into(),
    }
}

/// Reads the tables of `count` instructions.
fn parse(output: &str, count: usize) -> Result<Vec<Row>, LlvmError> {
    let resources = parse_resources(output)?;
    let rows = output
        .lines()
        .skip_while(|line| !(line.starts_with("[1]") && line.contains("Instructions:")))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .map(|line| parse_row(line, &resources))
        .collect::<Result<Vec<_>, _>>()?;
    if rows.len() != count {
        return Err(malformed(format!(
            "{} rows for {count} instructions",
            rows.len()
        )));
    }
    Ok(rows)
}

/// Reads the list of resources, for instance `[4] - HWPort23:2  HWPort2, HWPort3`.
fn parse_resources(output: &str) -> Result<Vec<Resource>, LlvmError> {
    let mut entries = Vec::new();
    for line in output
        .lines()
        .skip_while(|line| *line != "Resources:")
        .skip(1)
        .take_while(|line| line.starts_with('['))
    {
        let (name, count, members) =
            parse_resource(line).ok_or_else(|| malformed(format!("the resource '{line}'")))?;
        entries.push((name, count, members));
    }
    let mut resources: Vec<Resource> = Vec::new();
    let mut next = 0;
    for (name, count, members) in &entries {
        if members.is_empty() {
            if next + count > MOST_UNITS {
                return Err(malformed(format!("more than {MOST_UNITS} units")));
            }
            let units = (next..next + count).fold(0, |set, unit| set | 1 << unit);
            next += count;
            resources.push(Resource {
                name: name.clone(),
                units,
            });
        }
    }
    let singles = resources.len();
    for (name, _, members) in entries.iter().filter(|(_, _, members)| !members.is_empty()) {
        let units = members
            .iter()
            .map(|member| {
                resources[..singles]
                    .iter()
                    .find(|single| single.name == *member)
            })
            .try_fold(0, |set, single| Some(set | single?.units))
            .ok_or_else(|| malformed(format!("the resource {name} has an unknown member")))?;
        resources.push(Resource {
            name: name.clone(),
            units,
        });
    }
    if resources.is_empty() {
        return Err(malformed("no list of resources"));
    }
    Ok(resources)
}

/// The name, the number of units and the members of a resource.
fn parse_resource(line: &str) -> Option<(String, usize, Vec<String>)> {
    let (_, rest) = line.split_once("- ")?;
    let (name, rest) = rest.split_once(':')?;
    let (count, members) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let members = members
        .split(',')
        .map(str::trim)
        .filter(|member| !member.is_empty());
    Some((
        name.to_owned(),
        count.parse().ok()?,
        members.map(str::to_owned).collect(),
    ))
}

/// Reads one row: micro-operations, latency, throughput, flags, bypass latency, resources, opcode, instruction.
fn parse_row(line: &str, resources: &[Resource]) -> Result<Row, LlvmError> {
    let wrong = || malformed(format!("the row '{line}'"));
    let mut words = line.split_whitespace();
    let micro_ops = words
        .next()
        .and_then(|word| word.parse().ok())
        .ok_or_else(wrong)?;
    let latency = words
        .next()
        .and_then(|word| word.parse().ok())
        .ok_or_else(wrong)?;
    words.next().ok_or_else(wrong)?;
    words
        .find(|word| !matches!(*word, "*" | "U"))
        .ok_or_else(wrong)?;
    // A row without resources has the opcode here.
    let list = words.next().ok_or_else(wrong)?;
    let mut used = Vec::new();
    for item in items(list) {
        let (name, cycles) = item.split_once('[').unwrap_or((item, "1]"));
        let Some(resource) = resources.iter().find(|resource| resource.name == name) else {
            if used.is_empty() {
                break;
            }
            return Err(wrong());
        };
        let release = cycles
            .trim_end_matches(']')
            .rsplit(',')
            .next()
            .unwrap_or(cycles);
        used.push((resource.units, release.parse().map_err(|_| wrong())?));
    }
    Ok(Row {
        micro_ops,
        latency,
        uses: own_uses(used),
    })
}

/// Splits a list at the commas outside of brackets.
fn items(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    list.split(move |letter| {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        letter == ',' && depth == 0
    })
}

/// Takes the uses of smaller groups out of the larger ones.
///
/// LLVM counts a use of `HWPort23` also in `HWPort237` and `HWPortAny`, which contain it. What remains in a group after
/// the subtraction are the micro-operations that may take any of its units.
fn own_uses(mut used: Vec<(u64, u32)>) -> Vec<Use> {
    used.sort_by_key(|(units, _)| (units.count_ones(), *units));
    let mut own: Vec<Use> = Vec::new();
    for (units, count) in used {
        let inside: u32 = own
            .iter()
            .filter(|smaller| smaller.units & units == smaller.units && smaller.units != units)
            .map(|smaller| smaller.count)
            .sum();
        if count > inside {
            own.push(Use {
                units,
                count: count - inside,
            });
        }
    }
    own
}
