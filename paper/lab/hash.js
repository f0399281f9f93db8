"use strict";
// Every state of the page as the part of the URL behind the #.

/**
 * @typedef {{view: "hazards"} | {view: "run", id: string, step: number | null, tour: number | null, compare: string | null,
 *   packet: number | null}} Target
 */

/** Reads `#ID/STEP`, `#ID/tour-4`, `#ID/STEP?compare=ID2&packet=3`, or `#hazards`. @param {string} hash @returns {Target | null} */
function parseHash(hash) {
    const parts = /^#([\w.-]+)(?:\/(?:(\d+)|tour-(\d+)))?(?:\?(.*))?$/.exec(hash);
    if (!parts) {
        return null;
    }
    const [, id, step, tour, query] = parts;
    if (id === "hazards") {
        return { view: "hazards" };
    }
    const options = new URLSearchParams(query ?? "");
    const packet = options.get("packet");
    return {
        view: "run", id, step: step === undefined ? null : Number(step), tour: tour === undefined ? null : Number(tour),
        compare: options.get("compare"), packet: packet !== null && /^\d+$/.test(packet) ? Number(packet) : null,
    };
}

/** @param {string} id @param {number} step @param {string | null} [compare] @param {number} [packet] @param {number} [first] */
function formatHash(id, step, compare = null, packet = 0, first = packet) {
    const options = [...(compare ? [`compare=${compare}`] : []), ...(packet !== first ? [`packet=${packet}`] : [])];
    return `#${id}/${step}${options.length > 0 ? `?${options.join("&")}` : ""}`;
}

const address = {
    /** @type {number | undefined} */
    timer: undefined,
    /**
     * A jump gets an entry in the history. A step replaces it, after a pause, because browsers limit such calls.
     * @param {string} hash @param {boolean} jump
     */
    write(hash, jump) {
        window.clearTimeout(this.timer);
        if (jump && location.hash !== hash) {
            history.pushState(null, "", hash);
        } else {
            this.timer = window.setTimeout(() => history.replaceState(null, "", hash), 100);
        }
    },
};
