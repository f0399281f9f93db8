//! What each instruction costs on a processor, and on which values it waits.

use std::collections::BTreeMap;

use iced_x86::{
    Instruction, InstructionInfo, InstructionInfoFactory, Mnemonic, OpAccess, Register, RflagsBits,
};
use smallvec::SmallVec;

use super::llvm::{
    disassemble, dispatch_width, instruction_tables, Line, Llvm, LlvmError, Row, Use,
};
use crate::cpu::Cpu;
use crate::stream::{Code, Decoded};

/// Values that instructions pass on: registers by their number in iced-x86, which fits into a byte, then the flags.
pub(super) const VALUES: usize = OTHER_FLAGS as usize + 1;
const CARRY: u16 = 256;
const OTHER_FLAGS: u16 = CARRY + 1;

/// The most places of one instruction. LLVM gives instructions that it does not know a placeholder of 100.
const MOST_SLOTS: u32 = 32;

/// A set of values, in the order of the instruction.
pub(super) type Values = SmallVec<[u16; 4]>;

/// What an instruction waits for besides its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Nothing.
    None,
    /// All earlier instructions have retired (`lfence`, `cpuid`).
    Retired,
    /// All earlier stores have left the store buffer (`mfence`, locked instructions).
    Drained,
}

/// What an instruction costs.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    /// Places in the rename stage and the reorder buffer.
    pub slots: u32,
    /// Cycles from the last operand to the result, without the load.
    pub latency: u32,
    /// Units for the loads and the addresses of stores.
    pub address_uses: SmallVec<[Use; 3]>,
    /// Units for everything else.
    pub other_uses: SmallVec<[Use; 3]>,
    /// Values in addresses.
    pub addresses: Values,
    /// Values that the instruction reads besides addresses.
    pub operands: Values,
    /// Values that it writes.
    pub results: Values,
    /// What else it waits for.
    pub order: Order,
    /// The address behind it, if it is a branch.
    pub behind_branch: Option<u64>,
}

/// The costs of the executed instructions on a processor.
///
/// Micro-operations, units, latencies and the width of the rename stage come from LLVM's scheduling model, and fit each other.
#[derive(Clone, Debug)]
pub struct Costs {
    operations: BTreeMap<u64, u32>,
    table: Vec<Operation>,
    replaced: Vec<u64>,
    width: u32,
    llvm: String,
}

/// Instructions whose costs are subtracted from or compared with those of others.
struct Probes {
    load: Row,
    vector_load: Row,
    store: Row,
}

/// Their assembly, in the order of the fields.
const PROBES: [&str; 3] = [
    "movq (%rdi), %rax",
    "vmovdqu (%rdi), %xmm0",
    "movq %rax, (%rdi)",
];

impl Costs {
    /// Asks LLVM for the costs of all instructions of `code` on `cpu`.
    ///
    /// # Errors
    /// LLVM's programs failed, or do not know the processor or an instruction.
    pub fn new(llvm: &Llvm, cpu: &Cpu, code: &Code) -> Result<Self, LlvmError> {
        let mut lines = disassemble(llvm, code.iter())?;
        lines.extend(PROBES.map(|text| Line {
            text: text.to_owned(),
            replaced: false,
        }));
        let mut rows = instruction_tables(llvm, &cpu.llvm_mca, &lines)?;
        let probe_rows = rows.split_off(rows.len() - PROBES.len());
        let [load, vector_load, store] = <[Row; 3]>::try_from(probe_rows).unwrap_or_default();
        let probes = Probes {
            load,
            vector_load,
            store,
        };
        let mut factory = InstructionInfoFactory::new();
        let mut costs = Self {
            operations: BTreeMap::new(),
            table: Vec::with_capacity(rows.len()),
            replaced: Vec::new(),
            width: dispatch_width(llvm, &cpu.llvm_mca)?,
            llvm: llvm.version().to_owned(),
        };
        for ((decoded, line), row) in code.iter().zip(&lines).zip(rows) {
            let address = decoded.instruction.ip();
            if line.replaced {
                costs.replaced.push(address);
            }
            costs.operations.insert(address, costs.table.len() as u32);
            let info = factory.info(&decoded.instruction);
            costs.table.push(operation(decoded, info, row, &probes));
        }
        Ok(costs)
    }

    /// The addresses of instructions for which another form was looked up, because LLVM has no useful cost of their own.
    ///
    /// These are `endbr64` (a no-operation), and instructions with `lock` or `rep` (without the prefix).
    pub fn replaced(&self) -> &[u64] {
        &self.replaced
    }

    /// The version of LLVM that gave the costs.
    pub fn llvm_version(&self) -> &str {
        &self.llvm
    }

    /// The micro-operations that the processor renames and retires per cycle, as LLVM counts them.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The number of an instruction, for [`Costs::operation`].
    pub(super) fn index(&self, address: u64) -> Option<u32> {
        self.operations.get(&address).copied()
    }

    /// The costs of an instruction by its number.
    pub(super) fn operation(&self, index: u32) -> &Operation {
        &self.table[index as usize]
    }

    /// The instructions' addresses and numbers.
    pub(super) fn addresses(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.operations
            .iter()
            .map(|(address, index)| (*address, *index))
    }
}

/// Puts together what is known of an instruction.
fn operation(decoded: &Decoded, info: &InstructionInfo, row: Row, probes: &Probes) -> Operation {
    let instruction = &decoded.instruction;
    let (loads, stores) = memory_use(info);
    let load_latency = if !loads {
        0
    } else if uses_vectors(info) {
        probes.vector_load.latency
    } else {
        probes.load.latency
    };
    let for_address = |item: &Use| {
        let of = |probe: &Row| probe.uses.iter().any(|other| other.units == item.units);
        (loads && (of(&probes.load) || of(&probes.vector_load))) || (stores && of(&probes.store))
    };
    let (address_uses, other_uses): (SmallVec<_>, SmallVec<_>) =
        row.uses.iter().copied().partition(for_address);
    let (addresses, operands, results) = values(instruction, info);
    // On some processors, LLVM's latency of a store lasts until the data are in L1. The data are in the store buffer earlier.
    let way_to_l1 = if stores {
        probes.store.latency.saturating_sub(1)
    } else {
        0
    };
    let latency = row.latency.saturating_sub(load_latency + way_to_l1);
    Operation {
        slots: row.micro_ops.clamp(1, MOST_SLOTS),
        latency: if stores { latency.max(1) } else { latency },
        address_uses,
        other_uses,
        addresses,
        operands,
        results,
        order: order(instruction, loads),
        behind_branch: decoded.branch().map(|_| instruction.next_ip()),
    }
}

/// Whether the instruction reads and writes memory.
fn memory_use(info: &InstructionInfo) -> (bool, bool) {
    let any = |wanted: fn(OpAccess) -> bool| {
        info.used_memory()
            .iter()
            .any(|memory| wanted(memory.access()))
    };
    (
        any(|access| {
            matches!(
                access,
                OpAccess::Read | OpAccess::ReadWrite | OpAccess::ReadCondWrite | OpAccess::CondRead
            )
        }),
        any(|access| {
            matches!(
                access,
                OpAccess::Write
                    | OpAccess::ReadWrite
                    | OpAccess::ReadCondWrite
                    | OpAccess::CondWrite
            )
        }),
    )
}

fn uses_vectors(info: &InstructionInfo) -> bool {
    info.used_registers()
        .iter()
        .any(|used| used.register().is_vector_register())
}

/// What the instruction waits for.
fn order(instruction: &Instruction, loads: bool) -> Order {
    match instruction.mnemonic() {
        Mnemonic::Lfence | Mnemonic::Cpuid | Mnemonic::Serialize => Order::Retired,
        Mnemonic::Mfence => Order::Drained,
        Mnemonic::Xchg if loads => Order::Drained,
        _ if instruction.has_lock_prefix() => Order::Drained,
        _ => Order::None,
    }
}

/// The values in addresses, the other operands and the results.
fn values(instruction: &Instruction, info: &InstructionInfo) -> (Values, Values, Values) {
    let (mut addresses, mut operands, mut results) = (Values::new(), Values::new(), Values::new());
    let stack_engine =
        instruction.is_stack_instruction() && instruction.mnemonic() != Mnemonic::Leave;
    for memory in info.used_memory() {
        for register in [memory.base(), memory.index()] {
            // The core knows the instruction pointer, and segments do not change.
            if register != Register::None && register.full_register() != Register::RIP {
                add(&mut addresses, number(register));
            }
        }
    }
    for used in info.used_registers() {
        let register = used.register();
        let free = register.full_register() == Register::RIP
            || register.is_segment_register()
            || (stack_engine && register.full_register() == Register::RSP);
        if free {
            continue;
        }
        let value = number(register);
        let access = used.access();
        let writes = matches!(
            access,
            OpAccess::Write | OpAccess::ReadWrite | OpAccess::ReadCondWrite | OpAccess::CondWrite
        );
        let reads = !matches!(
            access,
            OpAccess::Write | OpAccess::NoMemAccess | OpAccess::None
        );
        // A write of a part keeps the rest of the register.
        let keeps_rest = writes && register.is_gpr() && register.size() < 4;
        let only_address =
            access == OpAccess::Read && addresses.contains(&value) && !names(instruction, register);
        if (reads && !only_address) || keeps_rest {
            add(&mut operands, value);
        }
        if writes {
            add(&mut results, value);
        }
    }
    flags(instruction.rflags_read(), &mut operands);
    flags(instruction.rflags_modified(), &mut results);
    (addresses, operands, results)
}

/// Whether `register` is an operand of its own, not only part of an address.
fn names(instruction: &Instruction, register: Register) -> bool {
    (0..instruction.op_count())
        .any(|operand| instruction.op_register(operand).full_register() == register.full_register())
}

fn number(register: Register) -> u16 {
    register.full_register() as u16
}

fn add(values: &mut Values, value: u16) {
    if !values.contains(&value) {
        values.push(value);
    }
}

/// Adds the flags in `bits`. The carry flag is apart, because `inc` and `dec` keep it.
fn flags(bits: u32, values: &mut Values) {
    const OTHERS: u32 =
        RflagsBits::OF | RflagsBits::SF | RflagsBits::ZF | RflagsBits::AF | RflagsBits::PF;
    if bits & RflagsBits::CF != 0 {
        add(values, CARRY);
    }
    if bits & OTHERS != 0 {
        add(values, OTHER_FLAGS);
    }
}
