"use strict";
// The drivers' source lines side by side. The line of the other drivers is that of the same kind of step.

const CONTEXT = 5;
const TWINS = ["tour-c", "tour-rust", "tour-rust-unsafe"];

/** The language of a build: C with sanitizers has the lines of C. @param {string} driver */
const language = (driver) => (driver === "c-hardened" ? "c" : driver);

/**
 * @param {Recording} recording @param {[string, number] | undefined} at
 * @param {Set<string>} ran Lines that ran since the step before. @param {string} title @param {boolean} own
 */
function sourceColumn(recording, at, ran, title, own) {
    const heading = el("h3", {}, title);
    if (!at) {
        return el("div", { class: "column" }, heading, el("p", { class: "quiet" }, "No line for this kind of step."));
    }
    const [file, current] = at;
    const code = recording.code[file] ?? {};
    // A function that was called far away must not push the current line out of sight.
    const shown = Object.keys(code).map(Number).sort((a, b) => a - b)
        .filter((line) => Math.abs(line - current) <= (ran.has(`${file}:${line}`) ? 3 : 1) * CONTEXT);
    const texts = new Map(shown.map((line) => [line, code[line].replace(/\t/g, "    ")]));
    const indent = Math.min(...[...texts.values()].filter((text) => text.trim() !== "").map((text) => text.search(/\S/)));
    const rows = shown.flatMap((line, position) => {
        const gap = position > 0 && shown[position - 1] !== line - 1 ? [el("span", { class: "gap" }, "      …\n")] : [];
        const kind = line === current ? "current" : ran.has(`${file}:${line}`) ? "ran" : "";
        const sign = line === current ? "▶" : kind === "ran" ? "·" : " ";
        const named = line === current && own ? { "aria-current": "true" } : {};
        const gutter = el("span", { class: "gutter" }, `${sign}${String(line).padStart(4)} `);
        return [...gap, el("span", { class: `line ${kind}`, ...named }, gutter, `${(texts.get(line) ?? "").slice(indent)}\n`)];
    });
    const missing = shown.includes(current) ? [] : [el("p", { class: "quiet" }, "The recording has no text of this line.")];
    const elsewhere = [...new Set([...ran].map((place) => place.replace(/:\d+$/, "")).filter((name) => name !== file))];
    const also = elsewhere.length > 0 ? [el("p", { class: "quiet" }, `also ran: ${elsewhere.join(", ")}`)] : [];
    const place = el("p", { class: "file", title: file }, `${file.split("/").slice(-2).join("/")}:${current}`);
    return el("div", { class: `column${own ? " own" : ""}` }, heading, place, ...missing,
        scroller(`${title}, lines around ${current}`, el("pre", {}, ...rows)), ...also);
}

/** @param {Run} run @param {State} state @param {number} index The step that is shown. */
function ownLine(run, state, index) {
    const step = run.steps[index];
    const last = state.driver === null ? undefined : run.steps[state.driver];
    const shown = step.line || run.recording.points[step.point] ? step : last;
    return {
        step: shown, now: shown === step,
        at: shown?.line ?? (shown && run.recording.points[shown.point]),
        ran: new Set(shown?.ran ?? []),
    };
}

/**
 * @param {Run} run @param {State} state @param {number} index @param {{run: Run, state: State, index: number} | null} other
 * @param {Map<string, Run>} twins The tour's recordings that are loaded.
 */
function showSource(run, state, index, other, twins) {
    const own = ownLine(run, state, index);
    const note = own.step && !own.now ? " These are the lines of the driver's last step." : "";
    const packet = run.steps[index].packet;
    const spent = packet === undefined ? "" : ` · packet ${packet} so far: ${state.spent[packet]}`;
    const here = run.steps[index].instructions ?? 0;
    box("counts").textContent = `Instructions of this step: ${here}${spent} · recording so far: ${state.total}.${note}`;
    let columns;
    if (other) {
        const theirs = ownLine(other.run, other.state, other.index);
        columns = [sourceColumn(run.recording, own.at, own.ran, `A: ${nameOf(run)}`, true),
            sourceColumn(other.run.recording, theirs.at, theirs.ran, `B: ${nameOf(other.run)}`, false)];
    } else {
        columns = TWINS.map((id) => {
            const twin = twins.get(id);
            const driver = id.slice("tour-".length);
            if (driver === language(run.recording.driver)) {
                return sourceColumn(run.recording, own.at, own.ran, DRIVERS[run.recording.driver] ?? driver, true);
            }
            const at = twin && own.step ? twin.recording.points[own.step.point] : undefined;
            return twin ? sourceColumn(twin.recording, at, new Set(), DRIVERS[driver], false)
                : el("div", { class: "column" }, el("h3", {}, DRIVERS[driver]), el("p", { class: "quiet" }, `The recording ${id} is not here.`));
        });
    }
    const place = box("source");
    place.classList.toggle("faded", !own.now);
    place.replaceChildren(...columns);
    for (const line of place.querySelectorAll(".line.current")) {
        const scroll = line.closest(".scroll");
        if (scroll instanceof HTMLElement && line instanceof HTMLElement) {
            scroll.scrollTop = line.offsetTop - scroll.clientHeight / 2;
        }
    }
}
