"use strict";
// A recording: how it is loaded, what it must have, and how its steps fold into states. FORMAT.md has the format.

/** @typedef {[string, number | null, number | null, ...string[]]} Descriptor  State, buffer, length, the two raw words. */
/** @typedef {{free: number, top: number[]}} Pool */
/** @typedef {{direction: string, what: string, iova: string, bytes: number, map?: string, refused?: string}} Access */
/** @typedef {{length: number, bytes: string}} Frame */
/**
 * @typedef {{actor: string, point: string, text: string, line?: [string, number], ran?: string[], instructions?: number, packet?: number,
 *   batch?: number, tour?: number, registers?: Record<string, number>, rx?: Record<string, Descriptor>, tx?: Record<string, Descriptor>,
 *   owners?: Record<string, string>, pool?: Pool, dma?: Access[], frame?: Frame, note?: string}} Step
 * @typedef {{outcome: string, recorded: string, text: string, title: string, cwe: number, provocation: string, why: string | null,
 *   noticed: string[], wrong: string[]}} Evidence
 * @typedef {{id: string, title: string, kind: string, driver: string, build: string, patch: string | null, hazard: string | null,
 *   ring_size: number, batch: number, buffer_bytes: number, code: Record<string, Record<string, string>>,
 *   points: Record<string, [string, number]>, steps: Step[], evidence: Evidence | null}} Recording
 */
/** @typedef {{id: string, title: string, kind: string, driver: string, hazard: string | null, outcome?: string, hazard_title?: string}} Entry */
/**
 * What all steps so far have made. `shown` is the descriptor of each ring that changed last, `places` the station of each
 * packet, `spent` the instructions of each packet, and `driver` the newest step of the driver.
 * @typedef {Required<Pick<Step, "registers" | "rx" | "tx" | "owners">> & {pool: Pool | null, frames: Record<string, Frame>,
 *   places: Record<string, number>, spent: Record<string, number>, total: number, shown: {rx: number | null, tx: number | null},
 *   tour: number | null, batch: number | null, driver: number | null}} State
 */

const KEYFRAME = 64;
/** The station at which a packet is after a step of this kind; see STATIONS in panes.js. @type {Record<string, number>} */
const PLACES = {
    "wire.arrives": 0, "device.reads_rx_descriptor": 1, "device.writes_frame": 1, "device.writes_back_rx": 2,
    "rx.status": 2, "rx.refill_address": 2, "rx.refill_zero": 2, "application.touch": 3, "tx.address": 4, "tx.command": 4,
    "device.reads_tx_descriptor": 5, "device.reads_frame": 5, "device.sends": 6, "device.writes_back_tx": 6,
};

/** @returns {State} */
function emptyState() {
    return {
        registers: {}, rx: {}, tx: {}, owners: {}, pool: null, frames: {}, places: {}, spent: {}, total: 0, shown: { rx: null, tx: null },
        tour: null, batch: null, driver: null,
    };
}

/** @param {State} state @param {Step} step @param {number} index */
function apply(state, step, index) {
    Object.assign(state.registers, step.registers);
    Object.assign(state.owners, step.owners);
    for (const ring of /** @type {const} */ (["rx", "tx"])) {
        const changed = Object.keys(step[ring] ?? {});
        Object.assign(state[ring], step[ring]);
        if (changed.length > 0 && changed.length <= 4) {
            state.shown[ring] = Number(changed[0]);
        }
    }
    state.pool = step.pool ?? state.pool;
    state.tour = step.tour ?? state.tour;
    state.batch = step.batch ?? state.batch;
    state.total += step.instructions ?? 0;
    if (step.line) {
        state.driver = index;
    }
    if (step.packet !== undefined) {
        state.places[step.packet] = PLACES[step.point] ?? state.places[step.packet] ?? 0;
        state.spent[step.packet] = (state.spent[step.packet] ?? 0) + (step.instructions ?? 0);
    }
    if (step.frame) {
        state.frames[step.packet ?? -1] = step.frame;
    }
}

/** A recording that is being shown. A keyframe every 64 steps makes every state a short fold, forwards and backwards. */
class Run {
    /** @param {Recording} recording */
    constructor(recording) {
        this.recording = recording;
        this.steps = recording.steps;
        /** @type {State[]} */
        this.keyframes = [emptyState()];
        this.packets = [...new Set(this.steps.flatMap((step) => step.packet ?? []))].sort((a, b) => a - b);
        const packet = (/** @type {(step: Step) => boolean} */ is) => this.steps.find((step) => step.packet !== undefined && is(step))?.packet;
        /** The packet that is followed at first: one that a hazard hits, or else the first that arrives. */
        this.first = packet((step) => Boolean(step.note)) ?? packet((step) => step.point === "wire.arrives") ?? this.packets[0] ?? 0;
        /** The first steps of each batch and of each step of the tour. */
        this.batches = this.firsts((step) => step.batch);
        this.tour = this.firsts((step) => step.tour);
    }

    /** @param {(step: Step) => number | undefined} of @returns {number[]} */
    firsts(of) {
        /** @type {number | undefined} */
        let last;
        return this.steps.flatMap((step, index) => {
            const value = of(step);
            const changed = value !== undefined && value !== last;
            last = value ?? last;
            return changed ? [index] : [];
        });
    }

    /** The state after the first `count` steps. @param {number} count @returns {State} */
    after(count) {
        const near = Math.min(Math.floor(count / KEYFRAME), this.keyframes.length - 1);
        const state = structuredClone(this.keyframes[near]);
        for (let index = near * KEYFRAME; index < count; index++) {
            apply(state, this.steps[index], index);
            if ((index + 1) % KEYFRAME === 0 && this.keyframes.length * KEYFRAME === index + 1) {
                this.keyframes.push(structuredClone(state));
            }
        }
        return state;
    }
}

/** @param {boolean} right @param {string} message */
function must(right, message) {
    if (!right) {
        throw new Error(message);
    }
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
/** @param {unknown} value */
const isRing = (value) => isObject(value) && Object.values(value).every((descriptor) => Array.isArray(descriptor)
    && typeof descriptor[0] === "string" && descriptor.slice(1, 3).every((n) => n === null || Number.isInteger(n)));
/** @type {Record<string, (value: any) => boolean>} */
const STEP_FIELDS = {
    line: (value) => Array.isArray(value) && typeof value[0] === "string" && Number.isInteger(value[1]),
    ran: (value) => Array.isArray(value) && value.every((line) => typeof line === "string"),
    rx: isRing, tx: isRing, instructions: Number.isInteger, packet: Number.isInteger, batch: Number.isInteger, tour: Number.isInteger,
    registers: (value) => isObject(value) && Object.values(value).every((number) => typeof number === "number"),
    owners: (value) => isObject(value) && Object.values(value).every((owner) => typeof owner === "string"),
    pool: (value) => isObject(value) && Number.isInteger(value.free) && Array.isArray(value.top),
    dma: (value) => Array.isArray(value) && value.every((access) => isObject(access) && typeof access.iova === "string"),
    frame: (value) => isObject(value) && Number.isInteger(value.length) && typeof value.bytes === "string",
    note: (value) => typeof value === "string",
};

/** Refuses what the page could not show, and says where it is. @param {unknown} value @returns {Recording} */
function checkRecording(value) {
    must(isObject(value) && value.format === "triptych-lab", 'it is not a recording: "format" is not "triptych-lab"');
    const recording = /** @type {Record<string, any>} */ (value);
    must(recording.version === 1, `it has version ${recording.version} of the format, and this page reads version 1`);
    ["id", "title", "kind", "driver"].forEach((name) => must(typeof recording[name] === "string", `"${name}" is not a string`));
    must(/^[\w.-]+$/.test(recording.id), `the id "${recording.id}" has other characters than letters, digits, ".", "_" and "-"`);
    must(Number.isInteger(recording.ring_size) && recording.ring_size >= 1 && recording.ring_size <= 4096,
        '"ring_size" is not a number from 1 to 4096');
    must(isObject(recording.code) && Object.values(recording.code).every(isObject), '"code" is not a table of files');
    must(isObject(recording.points) && Object.values(recording.points).every(STEP_FIELDS.line), '"points" is not a table of lines');
    must(Array.isArray(recording.steps) && recording.steps.length > 0, '"steps" is not a list of at least one step');
    recording.steps.forEach((/** @type {unknown} */ step, /** @type {number} */ index) => {
        must(isObject(step), `step ${index} is not an object`);
        const fields = /** @type {Record<string, unknown>} */ (step);
        ["actor", "point", "text"].forEach((name) => must(typeof fields[name] === "string", `step ${index} has no "${name}"`));
        for (const [name, right] of Object.entries(STEP_FIELDS)) {
            must(fields[name] === undefined || right(fields[name]), `"${name}" of step ${index} has the wrong form`);
        }
    });
    must(!recording.evidence || typeof recording.evidence.outcome === "string", '"evidence" has no "outcome"');
    return /** @type {Recording} */ (value);
}

/** Reads the text of a .json file, or of a .js file that calls labRecording. @param {string} text @returns {Recording} */
function parseRecording(text) {
    const wrapped = /^\s*labRecording\(([^]*)\);?\s*$/.exec(text);
    try {
        return checkRecording(JSON.parse(wrapped ? wrapped[1] : text));
    } catch (error) {
        throw error instanceof SyntaxError ? new Error(`it is not JSON (${error.message})`) : error;
    }
}

/** The recordings that index.js lists, and those that a file brought. */
const library = {
    /** @type {Entry[]} */
    entries: [],
    /** @type {Map<string, Promise<Run>>} */
    runs: new Map(),
    /** What the script that is loading has brought. @type {unknown} */
    brought: undefined,
    /** Scripts load from file://, where fetch and modules do not. @param {string} name */
    script(name) {
        return new Promise((resolve, reject) => {
            const script = el("script", { src: `recordings/${name}.js` });
            // A script with an error loads, too, but it brings nothing.
            script.addEventListener("load", () => { script.remove(); resolve(this.brought); this.brought = undefined; });
            script.addEventListener("error", () => { script.remove(); reject(new Error(`recordings/${name}.js is missing`)); });
            document.head.append(script);
        });
    },
    /** @param {string} id @returns {Promise<Run>} */
    load(id) {
        // Only names of the index become paths, so a link cannot load another file.
        const loading = this.runs.get(id) ?? (this.entries.some((entry) => entry.id === id)
            ? this.script(id).then((value) => new Run(checkRecording(value)))
            : Promise.reject(new Error("there is no such recording here; open its file, or run `make lab`")));
        loading.catch(() => this.runs.delete(id));
        this.runs.set(id, loading);
        return loading;
    },
    /** @param {Recording} recording @returns {string} The id under which it is shown. */
    add(recording) {
        const taken = this.entries.some((entry) => entry.id === recording.id && entry.kind !== "own");
        const id = taken ? `own-${recording.id}` : recording.id;
        const own = { ...recording, id, kind: "own" };
        this.entries = [...this.entries.filter((other) => other.id !== id), own];
        this.runs.set(id, Promise.resolve(new Run(own)));
        return id;
    },
};

/** @param {unknown} value */
const labRecording = (value) => { library.brought = value; };
const labIndex = labRecording;
