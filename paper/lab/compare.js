"use strict";
// Two recordings in step. Steps of one kind, for one packet, and for the same time are a pair.

const ROWS = 24;

/** @param {Run} run */
function nameOf(run) {
    const { driver, title, patch, kind } = run.recording;
    return `${kind === "own" ? `${title}, ` : ""}${DRIVERS[driver] ?? driver}${patch ? ` with ${patch}` : ""}`;
}

/** @param {Step[]} steps */
function stepKeys(steps) {
    /** @type {Map<string, number>} */
    const seen = new Map();
    return steps.map((step) => {
        const kind = `${step.point} ${step.packet ?? "-"}`;
        const time = seen.get(kind) ?? 0;
        seen.set(kind, time + 1);
        return `${kind} ${time}`;
    });
}

class Pairing {
    /** @param {Run} a @param {Run} b */
    constructor(a, b) {
        const keys = new Map(stepKeys(b.steps).map((key, index) => [key, index]));
        /** The step of B for each step of A: its twin, or else the twin of the step before. @type {{index: number, exact: boolean}[]} */
        this.pairs = [];
        let last = 0;
        for (const key of stepKeys(a.steps)) {
            const twin = keys.get(key);
            last = twin ?? last;
            this.pairs.push({ index: last, exact: twin !== undefined });
        }
        const paired = new Set(this.pairs.filter((pair) => pair.exact).map((pair) => pair.index));
        /** The steps of B that A does not have. */
        this.alone = b.steps.map((_, index) => index).filter((index) => !paired.has(index));
    }

    /** The steps that only B makes between this step and the one before. @param {number} index */
    skipped(index) {
        const [from, to] = [index === 0 ? -1 : this.pairs[index - 1].index, this.pairs[index].index];
        return this.alone.filter((step) => step > from && step < to);
    }
}

/**
 * @param {Run} a @param {number} index @param {State} stateA @param {Run} b @param {State} stateB @param {Pairing} pairing
 * @returns {{rx: Set<string>, tx: Set<string>, register: Set<string>}} The keys that differ.
 */
function showDifferences(a, index, stateA, b, stateB, pairing) {
    const { index: there, exact } = pairing.pairs[index];
    const [one, two] = [a.steps[index], b.steps[there]];
    const state = differences(stateA, stateB);
    const all = [...state];
    if (exact) {
        /** @param {Step} step */
        const place = (step) => (step.line ? step.line.join(":") : "–");
        const pairs = [["sentence", one.text, two.text], ["instructions of the step", String(one.instructions ?? 0), String(two.instructions ?? 0)]];
        if (language(a.recording.driver) === language(b.recording.driver)) {
            pairs.push(["source line", place(one), place(two)]);
        }
        all.push(...pairs.filter(([, x, y]) => x !== y).map(([name, x, y]) => ({ kind: "step", key: name, name, a: x, b: y })));
    }
    const skipped = pairing.skipped(index).map((step) => b.steps[step].text);
    const words = [
        state.length === 0 ? "= Registers, rings, owners and pool are equal." : `≠ Different: ${plural(state.length, "part")} of the state.`,
        exact ? "" : "≠ B has no such step: it is shown after its last common step.",
        skipped.length > 0 ? `≠ Only B made ${plural(skipped.length, "more step")} before: ${firstOf(skipped, 3, "; ")}.` : "",
        index === a.steps.length - 1 && there < b.steps.length - 1 ? `B goes on for ${plural(b.steps.length - 1 - there, "more step")}.` : "",
    ].filter(Boolean);
    const rows = all.slice(0, ROWS).map((difference) => row({ class: "unlike" }, `≠ ${difference.name}`, difference.a, difference.b));
    box("differences").replaceChildren(...words.map((text) => el("p", {}, text)),
        ...(rows.length > 0 ? [scroller("differences", table(["what", "A", "B"], rows, "What differs"))] : []),
        ...(all.length > ROWS ? [el("p", { class: "quiet" }, `… and ${all.length - ROWS} more`)] : []));
    /** @param {string} kind */
    const keys = (kind) => new Set(state.filter((difference) => difference.kind === kind).map((difference) => difference.key));
    return { rx: keys("rx"), tx: keys("tx"), register: keys("register") };
}
