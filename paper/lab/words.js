"use strict";
// States in words: for people who read, for screen readers, and for paper.

/** @type {Record<string, string>} */
const DRIVERS = { c: "C", "c-hardened": "C, sanitizers", rust: "safe Rust", "rust-unsafe": "unsafe Rust" };
/** @type {Record<string, string>} */
const ACTORS = { wire: "Wire", device: "Device", driver: "Driver", application: "Application", lab: "Lab" };
const OWNERS = ["device", "driver", "application", "pool"];
/** @type {Record<string, string>} */
const RINGS = { rx: "Receive ring of port 0", tx: "Transmit ring of port 1" };
/** @type {Record<string, string>} */
const STATES = { zero: "never written", empty: "empty", full: "to send", done: "DD", partial: "DD without EOP" };

/** @param {number} count @param {string} noun */
const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
/** The first items, and how many are left out. @param {string[]} items @param {number} most @param {string} between */
const firstOf = (items, most, between) => items.slice(0, most).join(between) + (items.length > most ? ` … and ${items.length - most} more` : "");
/** @param {unknown} error */
const reason = (error) => (error instanceof Error ? error.message : String(error));

/** @param {Descriptor | undefined} descriptor */
function descriptorWords(descriptor) {
    if (!descriptor) {
        return "absent";
    }
    const [state, buffer, length] = descriptor;
    return [STATES[state] ?? state, buffer === null ? "" : `buffer ${buffer}`, length === null ? "" : `${length} bytes`]
        .filter(Boolean).join(", ");
}

/** The owner of the descriptor's buffer; a buffer that has no owner is lost. @param {State} state @param {Descriptor} descriptor */
function ownerOf(state, descriptor) {
    const owner = descriptor[1] === null ? "" : state.owners[descriptor[1]];
    return descriptor[1] === null ? "none" : OWNERS.includes(owner) ? owner : "lost";
}

/** @param {string | undefined} owner */
const ownerWords = (owner) => (owner === undefined ? "unseen" : OWNERS.includes(owner) ? owner : "no owner");

/** @param {Pool | null} pool */
const poolWords = (pool) => (pool ? `${pool.free} free` : "none");

/**
 * What differs between two states. @param {State} a @param {State} b
 * @returns {{kind: string, key: string, name: string, a: string, b: string}[]}
 */
function differences(a, b) {
    /** @param {Record<string, any>} one @param {Record<string, any>} two */
    const keys = (one, two) => [...new Set([...Object.keys(one), ...Object.keys(two)])];
    const found = keys(a.registers, b.registers).map((key) => ({
        kind: "register", key, name: key, a: String(a.registers[key] ?? "absent"), b: String(b.registers[key] ?? "absent"),
    }));
    for (const ring of /** @type {const} */ (["rx", "tx"])) {
        const name = ring === "rx" ? "receive descriptor" : "transmit descriptor";
        found.push(...keys(a[ring], b[ring]).map((key) => ({
            kind: ring, key, name: `${name} ${key}`, a: descriptorWords(a[ring][key]), b: descriptorWords(b[ring][key]),
        })));
    }
    found.push(...keys(a.owners, b.owners).map((key) => ({
        kind: "owner", key, name: `owner of buffer ${key}`, a: ownerWords(a.owners[key]), b: ownerWords(b.owners[key]),
    })));
    found.push({ kind: "pool", key: "pool", name: "pool", a: poolWords(a.pool), b: poolWords(b.pool) });
    return found.filter((difference) => difference.a !== difference.b);
}

/** What a step changed, as one line; long lists are cut. @param {State} before @param {State} after */
function changeWords(before, after) {
    /** Buffers whose owner changes in the same way are one part. @type {Map<string, string[]>} */
    const moves = new Map();
    const parts = differences(before, after).flatMap(({ kind, key, name, a, b }) => {
        if (kind === "owner") {
            moves.set(`${a} → ${b}`, [...(moves.get(`${a} → ${b}`) ?? []), key]);
            return [];
        }
        return [kind === "register" || kind === "pool" ? `${name}: ${a} → ${b}` : `${name}: ${b}`];
    });
    parts.push(...[...moves].map(([move, keys]) => `${keys.length === 1 ? "buffer" : "buffers"} ${firstOf(keys, 4, ", ")}: ${move}`));
    return firstOf(parts, 6, " · ");
}

/**
 * The ring as ranges of descriptors that are alike, as in the tour's rings.txt. @param {State} state
 * @param {"rx" | "tx"} ring @param {number} size @returns {{which: string, state: string, buffers: string, owner: string}[]}
 */
function ranges(state, ring, size) {
    /** @type {{from: number, to: number, first: Descriptor, owner: string}[]} */
    const found = [];
    for (let index = 0; index < size; index++) {
        const descriptor = state[ring][index] ?? ["zero", null, null];
        const owner = ownerOf(state, descriptor);
        const last = found[found.length - 1];
        const next = last && (last.first[1] === null ? null : last.first[1] + index - last.from);
        if (last && last.owner === owner && last.first[0] === descriptor[0] && last.first[2] === descriptor[2] && next === descriptor[1]) {
            last.to = index;
        } else {
            found.push({ from: index, to: index, first: descriptor, owner });
        }
    }
    /** @param {number} from @param {number} to */
    const span = (from, to) => (from === to ? `${from}` : `${from} to ${to}`);
    return found.map(({ from, to, first, owner }) => ({
        which: span(from, to), owner: owner === "none" ? "–" : ownerWords(owner),
        state: (STATES[first[0]] ?? first[0]) + (first[2] === null ? "" : `, ${first[2]} bytes`),
        buffers: first[1] === null ? "–" : span(first[1], first[1] + to - from),
    }));
}
