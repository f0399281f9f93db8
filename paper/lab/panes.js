"use strict";
// What stands around the rings: the packet's lane, the pool, registers, DMA accesses, and the frame.

const STATIONS = ["wire 0", "port 0", "receive ring", "application", "transmit ring", "port 1", "wire 1"];
const TOKENS = 4;

/**
 * The packets' way. Each packet is a button that makes it the followed one.
 * @param {State} state @param {number | undefined} current @param {number} followed
 */
function showLane(state, current, followed) {
    const stations = STATIONS.map((name, place) => {
        const here = Object.keys(state.places).map(Number).filter((packet) => state.places[packet] === place).sort((a, b) => a - b);
        // The newest packets are shown; the followed and the current one always are.
        const shown = here.filter((packet, at) => packet === followed || packet === current || at >= here.length - TOKENS);
        const tokens = shown.map((packet) => el("button", {
            type: "button", class: `token${packet === current ? " current" : ""}`, "data-packet": packet,
            "aria-pressed": packet === followed ? "true" : "false", "aria-label": `packet ${packet}, at ${name}; follow it`,
        }, String(packet)));
        const rest = here.length - shown.length;
        const more = rest > 0 ? [el("span", { class: "more" }, `+${rest}`)] : [];
        return el("li", { class: state.places[followed] === place ? "here" : "" },
            el("span", { class: "station" }, name), el("span", { class: "tokens" }, ...more, ...tokens));
    });
    const lane = box("lane");
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.packet : undefined;
    lane.replaceChildren(...stations);
    if (focused !== undefined) {
        // The button that had the focus is a new one now.
        /** @type {HTMLElement | null} */ (lane.querySelector(`[data-packet="${focused}"]`))?.focus();
    }
}

/** @param {State} before @param {State} state @param {number} most The most free buffers that the recording has. */
function showPool(before, state, most) {
    const { pool } = state;
    if (!pool) { return box("pool").replaceChildren(el("p", { class: "quiet" }, "Not known yet.")); }
    const was = before.pool?.free ?? pool.free;
    const change = pool.free === was ? "" : pool.free < was ? `▼ ${was - pool.free} taken` : `▲ ${pool.free - was} returned`;
    const cells = pool.top.map((buffer, at) => el("li", {}, at === 0 ? `${buffer} ← top` : String(buffer)));
    if (pool.free > pool.top.length) {
        cells.push(el("li", { class: "quiet" }, `… ${pool.free - pool.top.length} more`));
    }
    box("pool").replaceChildren(
        el("p", {}, el("strong", {}, String(pool.free)), ` of ${most} free `, el("span", { class: "change" }, change)),
        el("ol", { class: "stack", "aria-label": "stack, top first" }, ...cells));
}

/** @param {State} before @param {State} state @param {number} index @param {Set<string>} unlike */
function showRegisters(before, state, index, unlike) {
    const rows = Object.entries(state.registers).map(([name, value]) => {
        const was = before.registers[name];
        const changed = index > 0 && was !== value;
        const doorbell = name === "RDT" || name === "TDT" ? [" ", el("span", { class: "quiet" }, "doorbell")] : [];
        return row({ class: `${changed ? "changed" : ""}${unlike.has(name) ? " unlike" : ""}` }, el("span", {}, name, ...doorbell),
            String(value), changed ? `▲ was ${was ?? "unset"}` : unlike.has(name) ? "≠" : "");
    });
    box("registers").replaceChildren(rows.length > 0 ? table(["register", "value", "change"], rows, "Registers of the device")
        : el("p", { class: "quiet" }, "None recorded yet."));
}

/** @param {Step} step */
function showDma(step) {
    const accesses = step.dma ?? [];
    const rows = accesses.map((access) => row({ class: access.refused ? "refused" : "" },
        `${access.direction === "write" ? "→ writes" : "← reads"} ${access.what}`, access.iova, String(access.bytes),
        access.refused ? `✕ refused: ${access.refused}` : `✓ ${access.map ?? "mapped"}`));
    box("dma").replaceChildren(accesses.length > 0
        ? scroller("DMA accesses", table(["the device", "IOVA", "bytes", "IOMMU"], rows, "DMA accesses of this step"))
        : el("p", { class: "quiet" }, "The device does not touch memory in this step."));
}

/** @param {State} before @param {State} state @param {Step} step @param {number} followed */
function showFrame(before, state, step, followed) {
    const packet = step.frame ? step.packet ?? -1 : step.packet ?? followed;
    const frame = state.frames[packet];
    if (!frame) {
        box("frame").replaceChildren(el("p", { class: "quiet" }, `The bytes of packet ${packet} are not known yet.`));
        return;
    }
    /** @param {string} text */
    const bytes = (text) => text.match(/../g) ?? [];
    const old = bytes(before.frames[packet]?.bytes ?? frame.bytes);
    const now = bytes(frame.bytes);
    const lines = Array.from({ length: Math.ceil(now.length / 16) }, (_, line) => {
        const cells = now.slice(line * 16, line * 16 + 16).flatMap((byte, at) => [
            old[line * 16 + at] === byte ? byte : el("mark", { title: `was ${old[line * 16 + at] ?? "absent"}` }, byte), at === 7 ? "  " : " "]);
        return el("span", { class: "bytes" }, el("span", { class: "quiet" }, `${(line * 16).toString(16).padStart(4, "0")}  `), ...cells, "\n");
    });
    const changes = now.flatMap((byte, at) => (old[at] === byte ? [] : [`byte ${at}: ${old[at] ?? "absent"} → ${byte}`]));
    const title = [`${packet < 0 ? "A frame" : `Packet ${packet}`}, ${frame.length} bytes`,
        frame.length > now.length ? `the first ${now.length} shown` : "", firstOf(changes, 3, ", ")];
    box("frame").replaceChildren(el("p", {}, title.filter(Boolean).join(" · ")),
        scroller("bytes of the frame", el("pre", {}, ...lines)));
}
