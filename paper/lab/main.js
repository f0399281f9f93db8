"use strict";
// The state that the page shows, and the way from a URL to the picture.

const app = {
    /** @type {Run | null} */
    run: null,
    /** @type {{run: Run, pairing: Pairing} | null} */
    other: null,
    index: 0,
    followed: 0,
    /** The most free buffers that the recording has. */
    mostFree: 0,
    /** @type {Record<string, Ring>} */
    rings: {},
    /** The tour's recordings that are loaded. @type {Map<string, Run>} */
    twins: new Map(),
    /** Counts the URLs, so that a slow recording does not cover a newer one. */
    wanted: 0,
};

/** @param {string} text */
function notice(text) {
    box("notice-text").textContent = text;
    box("notice").hidden = false;
}

/** @param {number} index @param {boolean} jump */
function go(index, jump) {
    if (app.run) {
        app.index = Math.max(0, Math.min(index, app.run.steps.length - 1));
        show();
        address.write(formatHash(app.run.recording.id, app.index, app.other?.run.recording.id ?? null, app.followed, app.run.first), jump);
    }
}

/** Lists the tours, the own recordings, and all builds of the hazard. @param {string} id @param {Run} run @param {string} chosen */
function fillSelect(id, run, chosen) {
    const { hazard } = run.recording;
    const entries = library.entries.filter((entry) => entry.kind !== "hazard" || entry.hazard === hazard);
    const options = entries.map((entry) => {
        const name = DRIVERS[entry.driver] ?? entry.driver;
        const title = entry.kind === "tour" ? "Tour" : entry.kind === "own" ? `Own: ${entry.title}` : entry.hazard;
        return el("option", { value: entry.id }, `${title}, ${name}`);
    });
    selectBox(id).replaceChildren(...(id === "compare" ? [el("option", { value: "" }, "nothing")] : []), ...options);
    selectBox(id).value = chosen;
}

/** Makes what is the same for all steps. @param {Run} run @param {Run | null} other */
function setUp(run, other) {
    app.other = other ? { run: other, pairing: new Pairing(run, other) } : null;
    app.mostFree = run.steps.reduce((most, step) => Math.max(most, step.pool?.free ?? 0), 0);
    app.rings = {};
    for (const [side, shown] of /** @type {[string, Run | null][]} */ ([["a", run], ["b", other]])) {
        for (const which of /** @type {const} */ (["rx", "tx"])) {
            if (shown) {
                app.rings[`${side}-${which}`] = new Ring(box(`${side}-${which}`), which, shown.recording.ring_size);
            }
        }
    }
    const { title, driver, build, patch, id } = run.recording;
    document.title = `${title} · Triptych lab`;
    box("title").textContent = title;
    const facts = [DRIVERS[driver] ?? driver, patch ? `patch ${patch}` : "", build ?? ""];
    box("build").textContent = box("build").title = facts.filter(Boolean).join(" · ");
    box("name-a").textContent = `A: ${nameOf(run)}`;
    box("name-b").textContent = other ? `B: ${nameOf(other)}` : "";
    box("runs").classList.toggle("two", other !== null);
    for (const name of ["name-a", "run-b", "differences-pane"]) {
        box(name).hidden = other === null;
    }
    fillSelect("recording", run, id);
    fillSelect("compare", run, other?.recording.id ?? "");
    selectBox("packet").replaceChildren(...run.packets.map((packet) => el("option", { value: packet }, String(packet))));
    byId("slider", HTMLInputElement).max = String(run.steps.length - 1);
    const tour = [...new Set(run.tour.map((index) => run.steps[index].tour ?? 0))].sort((a, b) => a - b);
    box("tour").hidden = tour.length === 0;
    box("tour-steps").replaceChildren(...tour.map((number) => el("li", {},
        el("a", { href: `#${id}/tour-${number}`, "data-tour": number, "aria-label": `tour step ${number}` }, String(number)))));
    for (const [kind, steps] of Object.entries({ packet: run.packets, batch: run.batches, tour })) {
        document.querySelectorAll(`[data-action^="${kind}-"]`).forEach((button) => button.toggleAttribute("disabled", steps.length === 0));
    }
    showEvidence(run, other?.recording.id ?? null);
}

/** Shows the current step. */
function show() {
    const { run, index, other, followed } = app;
    if (!run) { return; }
    const step = run.steps[index];
    const before = run.after(index);
    const state = structuredClone(before);
    apply(state, step, index);
    const there = other ? other.pairing.pairs[index].index : 0;
    const stateB = other ? other.run.after(there + 1) : null;
    const unlike = other && stateB ? showDifferences(run, index, state, other.run, stateB, other.pairing)
        : { rx: new Set(), tx: new Set(), register: new Set() };
    for (const which of /** @type {const} */ (["rx", "tx"])) {
        app.rings[`a-${which}`].show(state, step, index, unlike[which]);
        if (other && stateB) {
            app.rings[`b-${which}`].show(stateB, other.run.steps[there], there, unlike[which]);
        }
    }
    box("actor").textContent = ACTORS[step.actor] ?? step.actor;
    box("actor").dataset.actor = step.actor;
    box("sentence").textContent = step.text;
    box("note").textContent = step.note ? `⚠ ${step.note}` : "";
    const changes = changeWords(before, state) || "No register, descriptor or owner changes.";
    box("changes").textContent = index === 0 ? "The state at the beginning." : changes;
    const facts = Object.entries({ packet: step.packet, batch: state.batch, "tour step": state.tour });
    box("position").textContent = [`Step ${index} of ${run.steps.length - 1}`,
        ...facts.flatMap(([name, value]) => (value === undefined || value === null ? [] : [`${name} ${value}`]))].join(" · ");
    showLane(state, step.packet, followed);
    showPool(before, state, app.mostFree);
    showRegisters(before, state, index, unlike.register);
    showDma(step);
    showFrame(before, state, step, followed);
    showSource(run, state, index, other && stateB ? { run: other.run, state: stateB, index: there } : null, app.twins);
    const slider = byId("slider", HTMLInputElement);
    slider.value = String(index);
    slider.setAttribute("aria-valuetext", `step ${index}: ${step.text}`);
    selectBox("packet").value = String(followed);
    document.querySelectorAll("[data-tour]").forEach((link) => {
        fill(link, { "aria-current": link.getAttribute("data-tour") === String(state.tour) ? "step" : undefined }, []);
    });
}

/** @param {"run" | "hazards" | "nothing"} view */
function showView(view) {
    ["player", "controls", "choose"].forEach((id) => { box(id).hidden = view !== "run"; });
    box("hazards").hidden = view !== "hazards";
    if (view !== "run") { player.set(); }
}

/** Shows the state of the URL. */
async function restore() {
    const wanted = ++app.wanted;
    window.clearTimeout(address.timer);
    const start = library.entries.find((entry) => entry.kind === "tour") ?? library.entries[0];
    const target = parseHash(location.hash) ?? (start && location.hash.length < 2 ? parseHash(`#${start.id}/tour-1`) : null);
    box("notice").hidden = true;
    if (!target) {
        showView("nothing");
        notice(start ? `The address ${location.hash} names no state. It looks like #${start.id}/12, #${start.id}/tour-4, or #hazards.`
            : "There are no recordings here. Run `make lab` in the project's folder and open build/lab/index.html, or open a recording of your own.");
        return;
    }
    if (target.view === "hazards") {
        document.title = "Hazards · Triptych lab";
        showHazards(byId("filter", HTMLInputElement).value);
        showView("hazards");
        return;
    }
    try {
        const [run, other] = await Promise.all([library.load(target.id), target.compare ? library.load(target.compare) : null]);
        if (wanted !== app.wanted) { return; }
        if (run !== app.run || other !== (app.other?.run ?? null)) {
            player.set();
            app.run = run;
            setUp(run, other);
        }
        const tour = target.tour === null ? undefined : run.tour.find((index) => run.steps[index].tour === target.tour);
        if (target.tour !== null && tour === undefined && location.hash.length > 1) {
            notice(`The recording ${target.id} has no step ${target.tour} of the tour.`);
        }
        app.followed = target.packet ?? run.first;
        app.index = Math.min(tour ?? target.step ?? 0, run.steps.length - 1);
        showView("run");
        show();
        document.documentElement.dataset.ready = `${target.id}/${app.index}`;
    } catch (error) {
        if (wanted === app.wanted) {
            showView(app.run ? "run" : "nothing");
            notice(`Cannot show ${location.hash}: ${reason(error)}.`);
        }
    }
}

async function start() {
    connect();
    box("legend").prepend(...Object.keys(GLYPHS).filter((owner) => owner !== "none").map((owner) => el("li", { "data-owner": owner },
        svg("svg", { viewBox: "-8 -8 16 16", "aria-hidden": "true" }, svg("path", { d: GLYPHS[owner] })), ownerWords(owner))));
    // Without an index, restore() says what to do.
    const entries = await library.script("index").catch(() => []);
    library.entries = Array.isArray(entries) ? entries : [];
    await restore();
    for (const id of TWINS) {
        library.load(id).then((run) => { app.twins.set(id, run); show(); }, () => {});
    }
}

void start();
