"use strict";
// A descriptor ring as a picture. Colour and glyph show the owner, a tab shows DD, and an arc shows the device's part.

const OUTER = 200;
const INNER = 154;

/** The glyph of each owner, in a box of 10 by 10 around 0, so that no one needs the colours. @type {Record<string, string>} */
const GLYPHS = {
    device: "M-4-4h8v8h-8z", driver: "M0-5a5 5 0 1 1 0 10a5 5 0 1 1 0-10z", application: "M0-5l5 9h-10z", pool: "M0-5.5l5.5 5.5l-5.5 5.5l-5.5-5.5z",
    lost: "M-5-3l2-2l3 3l3-3l2 2l-3 3l3 3l-2 2l-3-3l-3 3l-2-2l3-3z", none: "",
};

/** @param {number} radius @param {number} turn A part of the circle, clockwise from the top. */
function point(radius, turn) {
    const angle = 2 * Math.PI * turn - Math.PI / 2;
    return `${(radius * Math.cos(angle)).toFixed(2)} ${(radius * Math.sin(angle)).toFixed(2)}`;
}

/** A piece of a band. @param {number} inner @param {number} outer @param {number} from @param {number} to */
function band(inner, outer, from, to) {
    const large = to - from > 0.5 ? 1 : 0;
    return `M${point(inner, from)}L${point(outer, from)}A${outer} ${outer} 0 ${large} 1 ${point(outer, to)}`
        + `L${point(inner, to)}A${inner} ${inner} 0 ${large} 0 ${point(inner, from)}Z`;
}

class Ring {
    /** @param {HTMLElement} place @param {"rx" | "tx"} which @param {number} size */
    constructor(place, which, size) {
        this.which = which;
        this.size = size;
        this.head = which === "rx" ? "RDH" : "TDH";
        this.tail = which === "rx" ? "RDT" : "TDT";
        this.picture = svg("svg", { viewBox: "-292 -246 584 492", role: "img", class: "ring" });
        this.cells = Array.from({ length: size }, (_, index) => this.cell(index));
        this.arc = svg("path", { class: "part" });
        this.outline = svg("path", { class: "outline" });
        this.headMark = svg("g", { class: "mark" }, svg("path", { d: "M0-204l-9-17h18z" }), svg("text", {}));
        this.tailMark = svg("g", { class: "mark tail" }, svg("circle", { class: "pulse", cy: -132, r: 12 }),
            svg("path", { d: "M0-146l-9 17h18z" }), svg("text", {}));
        this.middle = [-34, -4, 20, 44, 62].map((y, line) => svg("text", { y, class: `middle line-${line}` }));
        this.picture.append(...this.cells.map((cell) => cell.group), this.arc, this.outline, this.headMark, this.tailMark, ...this.middle);
        this.words = el("tbody");
        const headers = ["descriptors", "state", "buffers", "owner"].map((text) => el("th", { scope: "col" }, text));
        const words = el("table", {}, el("caption", { class: "hidden" }, RINGS[which]), el("thead", {}, el("tr", {}, ...headers)), this.words);
        place.replaceChildren(el("h3", {}, RINGS[which]), this.picture, el("details", {}, el("summary", {}, "as a table"), words));
    }

    /** @param {number} index */
    cell(index) {
        const [from, to, middle] = [index / this.size, (index + 1) / this.size, (index + 0.5) / this.size];
        const small = this.size > 96;
        const body = svg("path", { d: band(INNER, OUTER, from, to), class: "body" });
        const tab = svg("path", { d: band(OUTER, OUTER + 7, from + 0.1 / this.size, to - 0.1 / this.size), class: "tab" });
        const glyph = svg("path", { transform: `translate(${point(INNER + 9, middle)}) scale(${small ? 0.5 : 1})`, class: "glyph" });
        // Numbers on the left half are turned, so that none stands on its head.
        const turn = middle * 360 - 90 + (middle > 0.5 ? 180 : 0);
        const number = svg("text", { transform: `translate(${point(OUTER - 14, middle)}) rotate(${turn})`, class: "number" });
        const differs = svg("text", { transform: `translate(${point(OUTER + 16, middle)})`, class: "differs" });
        const title = svg("title");
        const group = svg("g", { class: "cell" }, title, body, tab, glyph, ...(small ? [] : [number]), differs);
        if (index % 8 === 0 && !small) {
            group.append(svg("text", { transform: `translate(${point(OUTER + 18, middle)})`, class: "index" }, String(index)));
        }
        return { group, glyph, number, differs, title, shown: "" };
    }

    /** @param {SVGGElement} mark @param {number | undefined} at @param {string} name @param {number} radius */
    place(mark, at, name, radius) {
        mark.style.display = at === undefined ? "none" : "";
        if (at === undefined) {
            return;
        }
        const turn = (at + 0.5) / this.size;
        mark.setAttribute("data-at", String(at));
        mark.querySelectorAll("path, circle").forEach((shape) => shape.setAttribute("transform", `rotate(${turn * 360})`));
        const text = /** @type {SVGTextElement} */ (mark.querySelector("text"));
        const side = Math.sin(2 * Math.PI * turn) * (radius > OUTER ? 1 : -1);
        text.setAttribute("transform", `translate(${point(radius > OUTER ? radius : radius + 14 * Math.abs(side), turn)})`);
        text.style.textAnchor = Math.abs(side) < 0.3 ? "middle" : side > 0 ? "start" : "end";
        text.textContent = `${name} ${at}`;
    }

    /** @param {State} state @param {Step} step @param {number} index @param {Set<string>} unlike Descriptors that differ in a comparison. */
    show(state, step, index, unlike) {
        const { which, size } = this;
        const [head, tail] = [state.registers[this.head], state.registers[this.tail]];
        const changed = index === 0 ? {} : step[which] ?? {};
        this.cells.forEach((cell, number) => {
            const descriptor = state[which][number] ?? ["zero", null, null];
            const owner = ownerOf(state, descriptor);
            const differs = unlike.has(String(number));
            const atHead = Math.abs(number - (head ?? -9)) < 2;
            const flags = (number in changed ? " changed" : "") + (atHead ? " at-head" : "") + (differs ? " unlike" : "");
            const shown = `${owner} ${descriptor[0]} ${descriptor[1]} ${descriptor[2]}${flags}`;
            if (cell.shown !== shown) {
                cell.shown = shown;
                cell.group.setAttribute("class", `cell is-${descriptor[0]}${flags}`);
                cell.group.setAttribute("data-owner", owner);
                cell.glyph.setAttribute("d", GLYPHS[owner]);
                cell.number.textContent = descriptor[1] === null ? "" : String(descriptor[1]);
                cell.differs.textContent = differs ? "≠" : "";
                cell.title.textContent = `Descriptor ${number}: ${descriptorWords(descriptor)}${owner === "none" ? "" : `, ${ownerWords(owner)}`}`;
            }
        });
        const outlines = Object.keys(changed).map(Number).map((number) => band(INNER, OUTER, number / size, (number + 1) / size));
        this.outline.setAttribute("d", outlines.join(""));
        this.place(this.headMark, head, this.head, OUTER + 32);
        this.place(this.tailMark, tail, this.tail, INNER - 46);
        // The device owns the descriptors from the head up to the tail, and none if they are equal.
        const part = head === undefined || tail === undefined ? 0 : (tail - head + size) % size;
        this.arc.setAttribute("d", part === 0 ? "" : band(INNER - 6, INNER - 2, head / size, (head + part) / size));
        // A class that is taken away and set again starts the pulse again.
        this.tailMark.classList.remove("rung");
        if (index > 0 && this.tail in (step.registers ?? {})) {
            void this.picture.getBoundingClientRect();
            this.tailMark.classList.add("rung");
        }
        const own = state.shown[which];
        const descriptor = own === null ? undefined : state[which][own];
        const lines = own === null || !descriptor
            ? ["", `${size} descriptors`, "", "", ""]
            : [`${own}`, ...middleWords(descriptor, ownerOf(state, descriptor)), ...descriptor.slice(3).map(String)];
        this.middle.forEach((text, line) => { text.textContent = lines[line] ?? ""; });
        const rows = ranges(state, which, size);
        this.words.replaceChildren(...rows.map((range) => row({}, range.which, range.state, range.buffers, range.owner)));
        const parts = rows.map((range) => `${range.which}: ${range.state}, buffers ${range.buffers}, ${range.owner}`);
        this.picture.setAttribute("aria-label",
            `${RINGS[which]}. ${this.head} ${head ?? "unknown"}, ${this.tail} ${tail ?? "unknown"}. ${firstOf(parts, 8, "; ")}.`);
    }
}

/** The lines below the number in the middle of the ring. @param {Descriptor} descriptor @param {string} owner */
function middleWords([state, buffer, length], owner) {
    return [
        (STATES[state] ?? state) + (length === null ? "" : `, ${length} bytes`),
        buffer === null ? "no buffer" : `buffer ${buffer}${owner === "none" ? "" : ` · ${ownerWords(owner)}`}`,
    ];
}
