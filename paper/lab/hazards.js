"use strict";
// The hazards: which build has which outcome, and the evidence of one recording.

/** How bad each outcome is. Sign and word stand beside the colour. @type {Record<string, string>} */
const GRADES = {
    "silent corruption": "worst", "memory disclosed": "worst",
    hang: "bad", leak: "bad", "stalled queue": "bad", "wrong packet": "bad", "uncounted loss": "bad",
    "panic/trap": "noticed", "error returned": "noticed", "contained by the IOMMU": "noticed", "counted drop": "noticed",
    "does not compile": "none", "no effect": "none",
};
/** @type {Record<string, string>} */
const SIGNS = { worst: "✕", bad: "▲", noticed: "●", none: "✓", race: "◆" };
/** @type {Record<string, string>} */
const PARTIES = { app: "The application is wrong", dev: "The device is wrong", drv: "The driver is wrong", wire: "The sender of frames is wrong" };

/** @param {string} outcome */
function outcomeLabel(outcome) {
    const race = outcome.includes(" or ");
    const grade = race ? "race" : GRADES[outcome] ?? "bad";
    return el("span", { class: `outcome ${grade}`, title: race ? outcome : undefined }, `${SIGNS[grade]} ${race ? "differs by run" : outcome}`);
}

/** The recordings of each hazard by build. @param {Entry[]} entries */
function byHazard(entries) {
    /** @type {Map<string, Map<string, Entry>>} */
    const hazards = new Map();
    for (const entry of entries) {
        if (entry.hazard && entry.kind === "hazard") {
            hazards.set(entry.hazard, (hazards.get(entry.hazard) ?? new Map()).set(entry.driver, entry));
        }
    }
    return hazards;
}

/** @param {Entry | undefined} entry @param {string} [current] The id that is shown now. */
function buildCell(entry, current) {
    if (!entry) {
        return el("span", { class: "quiet" }, "no recording");
    }
    const label = entry.outcome ? outcomeLabel(entry.outcome) : el("span", {}, "see the recording");
    return el("a", { href: formatHash(entry.id, 0), "aria-current": entry.id === current ? "true" : undefined,
        "aria-label": `${entry.title}, ${DRIVERS[entry.driver] ?? entry.driver}: ${label.textContent}` }, label);
}

/** @param {string} words Only hazards whose names or outcomes have these words are listed. */
function showHazards(words) {
    const wanted = words.toLowerCase().split(/\s+/);
    const builds = Object.keys(DRIVERS);
    const headers = ["hazard", ...Object.values(DRIVERS)].map((text) => el("th", { scope: "col" }, text));
    const groups = new Map(Object.keys(PARTIES).map((party) => [party, /** @type {HTMLTableRowElement[]} */ ([])]));
    for (const [hazard, entries] of byHazard(library.entries)) {
        const first = [...entries.values()][0];
        const text = [hazard, first.hazard_title, ...[...entries.values()].map((entry) => entry.outcome ?? "")].join(" ").toLowerCase();
        if (wanted.every((word) => text.includes(word))) {
            const name = el("span", {}, first.hazard_title ?? first.title, el("code", {}, hazard));
            groups.get(hazard.split("-")[0])?.push(row({}, name, ...builds.map((build) => buildCell(entries.get(build)))));
        }
    }
    const bodies = [...groups].filter(([, rows]) => rows.length > 0).map(([party, rows]) => el("tbody", {},
        el("tr", { class: "party" }, el("th", { scope: "rowgroup", colspan: builds.length + 1 }, PARTIES[party])), ...rows));
    box("hazard-count").textContent = plural([...groups.values()].flat().length, "hazard");
    box("hazard-list").replaceChildren(scroller("hazards", el("table", {}, el("caption", { class: "hidden" }, "Outcome of each hazard in each build"),
        el("thead", {}, el("tr", {}, ...headers)), ...bodies)));
}

/** @param {string} title @param {(Node | string)[] | undefined} items @param {string} [none] What stands there without items. */
function evidencePart(title, items, none) {
    const shown = items && items.length > 0 ? items : none ? [none] : [];
    return shown.length === 0 ? [] : [el("dt", {}, title), ...shown.map((item) => el("dd", {}, item))];
}

/** Where something wrong is written, refused or noted. Notes that differ in numbers are one. @param {Run} run @param {string | null} compare */
function wrongSteps(run, compare) {
    /** @type {Map<string, HTMLElement[]>} */
    const found = new Map();
    run.steps.forEach((step, index) => {
        const rogue = step.point === "device.rogue_write" || step.point === "device.refused";
        const refused = (step.dma ?? []).filter((access) => access.refused);
        const link = el("a", { href: formatHash(run.recording.id, index, compare) }, `step ${index}`);
        const where = (rogue ? step.dma ?? [] : refused).map((access) => `${access.direction} of ${access.bytes} bytes at ${access.iova}: `
            + (access.refused ? `refused, ${access.refused}` : access.map ?? "mapped"));
        const words = [step.text, ...where, step.note].filter(Boolean).join(". ");
        if (rogue || step.note || refused.length > 0) {
            const key = (step.note ?? step.point).replace(/\d+/g, "");
            found.set(key, [...(found.get(key) ?? []), el("span", {}, link, `: ${words}`)]);
        }
    });
    return [...found.values()].map(([first, ...more]) => el("span", {}, first, more.length > 0 ? ` (and ${more.length} more like it)` : ""));
}

/** @param {Run} run @param {string | null} compare */
function showEvidence(run, compare) {
    const { evidence, hazard, id } = run.recording;
    box("evidence").hidden = !evidence;
    if (!evidence) { return; }
    const entries = byHazard(library.entries).get(hazard ?? "") ?? new Map();
    const outcomes = Object.entries(DRIVERS).map(([build, name]) => row({}, name, buildCell(entries.get(build), id)));
    const agrees = evidence.recorded === undefined || evidence.recorded.split(" or ").includes(evidence.outcome);
    box("evidence-title").textContent = `Hazard: ${evidence.title ?? hazard ?? ""}`;
    box("evidence-body").replaceChildren(
        el("p", { class: "verdict" }, `${DRIVERS[run.recording.driver] ?? run.recording.driver}: `, outcomeLabel(evidence.outcome),
            agrees ? "" : ` ≠ recorded as “${evidence.recorded}”`, evidence.text ? ` ${evidence.text}` : ""),
        table(["build", "outcome"], outcomes, "Outcome in each build"),
        el("dl", {}, ...evidencePart("How it is provoked", [evidence.provocation].filter(Boolean)),
            ...evidencePart("What was written where", wrongSteps(run, compare)), ...evidencePart("Who noticed", evidence.noticed, "No one."),
            ...evidencePart("What stays wrong", evidence.wrong, "Nothing that the lab found."),
            ...evidencePart("Why", evidence.why ? [evidence.why] : []),
            ...evidencePart("Class of the mistake", evidence.cwe ? [`CWE-${evidence.cwe}`] : [])));
}
