"use strict";
// Makes elements. Data reaches the page as text only, never as markup.

/** @typedef {Record<string, string | number | boolean | null | undefined>} Attributes */

/** @param {Element} element @param {Attributes} attributes @param {(Node | string)[]} children */
function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (value === false || value === null || value === undefined) {
            element.removeAttribute(name);
        } else if (element.getAttribute(name) !== String(value)) {
            element.setAttribute(name, value === true ? "" : String(value));
        }
    }
    element.append(...children);
}

/**
 * @template {keyof HTMLElementTagNameMap} K @param {K} tag @param {Attributes} [attributes] @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
function el(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    fill(element, attributes, children);
    return element;
}

/**
 * @template {keyof SVGElementTagNameMap} K @param {K} tag @param {Attributes} [attributes] @param {...(Node | string)} children
 * @returns {SVGElementTagNameMap[K]}
 */
function svg(tag, attributes = {}, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    fill(element, attributes, children);
    return element;
}

/** @template {HTMLElement} T @param {string} id @param {new () => T} kind @returns {T} */
function byId(id, kind) {
    const element = document.getElementById(id);
    if (!(element instanceof kind)) {
        throw new Error(`index.html has no ${kind.name} with the id "${id}"`);
    }
    return element;
}
/** @param {string} id */
const box = (id) => byId(id, HTMLElement);
/** @param {string} id */
const selectBox = (id) => byId(id, HTMLSelectElement);

/** @param {string[]} headers @param {HTMLTableRowElement[]} rows @param {string} caption */
function table(headers, rows, caption) {
    const head = el("tr", {}, ...headers.map((text) => el("th", { scope: "col" }, text)));
    return el("table", {}, el("caption", { class: "hidden" }, caption), el("thead", {}, head), el("tbody", {}, ...rows));
}

/** A row whose first cell names it. @param {Attributes} attributes @param {...(Node | string)} cells */
function row(attributes, ...cells) {
    const [first, ...rest] = cells;
    return el("tr", attributes, el("th", { scope: "row" }, first), ...rest.map((cell) => el("td", {}, cell)));
}

/** A wide table or quote scrolls in its own box, which the keyboard can reach. @param {string} label @param {Node} content */
const scroller = (label, content) => el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": label }, content);
