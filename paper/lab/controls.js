"use strict";
// Buttons, keys, slider and files. Each action is a function of the state that is shown.

/** The next or previous of these steps. @param {number[]} steps @param {number} index @param {boolean} back */
function neighbour(steps, index, back) {
    return (back ? steps.filter((step) => step < index).pop() : steps.find((step) => step > index)) ?? index;
}

/** @param {Run} run @param {number} packet */
const stepsOf = (run, packet) => run.steps.flatMap((step, index) => (step.packet === packet ? [index] : []));
/** @type {Record<string, (run: Run, index: number) => number>} */
const MOVES = {
    first: () => 0,
    back: (_, index) => index - 1,
    forward: (_, index) => index + 1,
    last: (run) => run.steps.length - 1,
    "packet-back": (run, index) => neighbour(stepsOf(run, app.followed), index, true),
    "packet-forward": (run, index) => neighbour(stepsOf(run, app.followed), index, false),
    "batch-back": (run, index) => neighbour(run.batches, index, true),
    "batch-forward": (run, index) => neighbour(run.batches, index, false),
    "tour-back": (run, index) => neighbour(run.tour, index, true),
    "tour-forward": (run, index) => neighbour(run.tour, index, false),
};

/** @type {Record<string, string>} */
const KEYS = {
    ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last", p: "packet-forward", P: "packet-back",
    b: "batch-forward", B: "batch-back", t: "tour-forward", T: "tour-back", " ": "play", "?": "help", h: "hazards",
};

const player = {
    /** @type {number | undefined} */
    timer: undefined,
    /** @param {number} [timer] The timer that makes the steps, or none to pause. */
    set(timer) {
        window.clearInterval(this.timer);
        this.timer = timer;
        box("play").textContent = timer === undefined ? "▶ Play" : "❚❚ Pause";
    },
    toggle() {
        if (this.timer !== undefined || !app.run) { return this.set(); }
        const last = app.run.steps.length - 1;
        go(app.index === last ? 0 : app.index, false);
        this.set(window.setInterval(() => {
            go(app.index + 1, false);
            if (app.index === last) { this.set(); }
        }, 1000 / Number(selectBox("speed").value)));
    },
};

/** @param {string} action */
function act(action) {
    if (action === "play") {
        player.toggle();
    } else if (action === "help") {
        byId("help", HTMLDialogElement).showModal();
    } else if (action === "hazards") {
        location.hash = "#hazards";
    } else if (app.run && action in MOVES) {
        player.set();
        go(MOVES[action](app.run, app.index), action.startsWith("tour"));
    }
}

/** @param {KeyboardEvent} event */
function onKey(event) {
    const target = event.target instanceof HTMLElement ? event.target : document.body;
    const action = KEYS[event.key];
    const typing = target.matches("select, input:not([type=range])") || target.closest("dialog") !== null;
    // The slider, buttons, links and boxes that scroll have their own meaning for some keys.
    const own = (target.matches("input[type=range]") && action !== "play" && event.key.length > 1)
        || (event.key === " " && target.matches("button, summary, a")) || (event.key.startsWith("Arrow") && target.matches(".scroll"));
    if (!action || typing || own || event.ctrlKey || event.altKey || event.metaKey) { return; }
    event.preventDefault();
    act(action);
}

/** @param {FileList | null | undefined} files */
async function openFile(files) {
    const file = files?.[0];
    if (!file) { return; }
    try {
        const id = library.add(parseRecording(await file.text()));
        history.pushState(null, "", formatHash(id, 0));
        await restore();
    } catch (error) {
        notice(`Cannot open ${file.name}: ${reason(error)}. A recording comes from \`triptych lab record -o FILE\`.`);
    }
}

/** @param {number} packet */
const follow = (packet) => { app.followed = packet; go(app.index, false); };

function connect() {
    document.addEventListener("keydown", onKey);
    document.addEventListener("click", (event) => {
        const button = event.target instanceof Element ? event.target.closest("button") : null;
        if (event.target === box("skip")) {
            // The part behind the # is a state, so this link only moves the focus.
            event.preventDefault();
            box("state").focus();
        } else if (button?.dataset.action) {
            act(button.dataset.action);
        } else if (button?.dataset.packet) {
            follow(Number(button.dataset.packet));
        }
    });
    const slider = byId("slider", HTMLInputElement);
    slider.addEventListener("input", () => { player.set(); go(Number(slider.value), false); });
    selectBox("speed").addEventListener("change", () => { if (player.timer !== undefined) { player.set(); player.toggle(); } });
    selectBox("packet").addEventListener("change", () => follow(Number(selectBox("packet").value)));
    selectBox("recording").addEventListener("change", () => { location.hash = formatHash(selectBox("recording").value, 0); });
    selectBox("compare").addEventListener("change", () => {
        location.hash = formatHash(selectBox("recording").value, app.index, selectBox("compare").value || null, app.followed, app.run?.first);
    });
    box("theme").addEventListener("click", () => {
        const theme = { auto: "light", light: "dark" }[document.documentElement.dataset.theme ?? ""] ?? "auto";
        document.documentElement.dataset.theme = theme;
        box("theme").textContent = `Theme: ${theme}`;
    });
    box("notice-close").addEventListener("click", () => { box("notice").hidden = true; });
    const file = byId("file", HTMLInputElement);
    file.addEventListener("change", () => { void openFile(file.files).then(() => { file.value = ""; }); });
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => { event.preventDefault(); void openFile(event.dataTransfer?.files); });
    const filter = byId("filter", HTMLInputElement);
    filter.addEventListener("input", () => showHazards(filter.value));
    window.addEventListener("hashchange", () => void restore());
    // Paper has the rings as tables, too.
    window.addEventListener("beforeprint", () => document.querySelectorAll("#runs details").forEach((details) => details.setAttribute("open", "")));
}
