"use strict";
// Writes a small set of recordings: a tour in three drivers, and hazards in each build. Usage: node fixture.js FOLDER
const { mkdirSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");

const SIZE = 64;
const LANGUAGE = { c: "c", "c-hardened": "c", rust: "rust", "rust-unsafe": "rust-unsafe" };
const FILES = { c: "c/src/driver/rx.c", rust: "rust/src/driver/rx.rs", "rust-unsafe": "rust-unsafe/src/gen/driver/rx.rs" };
const POINTS = ["start.RDT", "rx.status", "rx.refill_address", "rx.RDT", "application.touch", "tx.address", "tx.TDT", "tx.status", "pool.free"];

/** Collects steps of one run, and fills in the driver's lines. */
class Recorder {
    constructor(driver) {
        Object.assign(this, { driver, steps: [], free: 448, top: 64 });
    }

    line(point) {
        return [FILES[LANGUAGE[this.driver]], 50 + 3 * POINTS.indexOf(point)];
    }

    step(actor, point, text, fields = {}) {
        const [file, line] = this.line(point);
        const ran = { line: [file, line], ran: [`${file}:${line - 1}`, `${file}:${line}`, "c/src/driver/dma.h:9"], instructions: 3 + line % 5 };
        this.steps.push({ actor, point, text, ...(POINTS.includes(point) ? ran : {}), ...fields });
    }

    pool(change) {
        this.free += change;
        this.top -= change;
        return { free: this.free, top: Array.from({ length: 8 }, (_, at) => this.top + at) };
    }

    start() {
        const numbers = Array.from({ length: SIZE }, (_, index) => index);
        this.step("driver", "start.RDT", "The driver hands all buffers but one to the device", {
            tour: 9, registers: { RDH: 0, RDT: 63, TDH: 0, TDT: 0, GPRC: 0 }, pool: this.pool(0),
            rx: Object.fromEntries(numbers.map((n) => [n, ["empty", n, null, `0x${(0x200000 + n * 2048).toString(16).padStart(16, "0")}`, `0x${"0".repeat(16)}`]])),
            tx: Object.fromEntries(numbers.map((n) => [n, ["zero", null, null, `0x${"0".repeat(16)}`, `0x${"0".repeat(16)}`]])),
            owners: Object.fromEntries(numbers.map((n) => [n, n < 63 ? "device" : "driver"])),
        });
    }

    arrive(packet, length, fault = {}) {
        const bytes = Array.from({ length: 60 }, (_, at) => ((at * 7 + packet) % 256).toString(16).padStart(2, "0")).join("");
        const iova = `0x${(0x200000 + packet * 2048).toString(16)}`;
        this.step("wire", "wire.arrives", `Frame ${packet} arrives, 60 bytes`, { packet, frame: { length: 60, bytes }, ...(packet === 0 ? { tour: 1 } : {}) });
        this.step("device", "device.writes_frame", `The device writes the frame to buffer ${packet}`, { packet, dma: [{ direction: "write", what: "frame", iova, bytes: 60, map: "pool" }] });
        this.step("device", "device.writes_back_rx", `The device sets DD in descriptor ${packet}`, {
            packet, rx: { [packet]: ["done", packet, length, `0x${"0".repeat(16)}`, "0x0000003c00000003"] }, owners: { [packet]: "driver" },
            registers: { RDH: packet + 1, GPRC: packet + 1 }, dma: [{ direction: "write", what: "receive descriptor", iova: "0x1000", bytes: 16, map: "receive ring" }], ...fault,
        });
    }

    forward(batch, packets, length = 60, tour = false) {
        for (const packet of packets) {
            const fresh = this.top;
            this.step("driver", "rx.status", `The driver reads descriptor ${packet}: DD is set, ${length} bytes`, { packet, batch, ...(tour && packet === packets[0] ? { tour: 4 } : {}) });
            this.step("driver", "rx.refill_address", `The driver puts the empty buffer ${fresh} into descriptor ${packet}`, {
                packet, batch, rx: { [packet]: ["empty", fresh, null, "0x0000000000220000", `0x${"0".repeat(16)}`] }, owners: { [fresh]: "driver" }, pool: this.pool(-1) });
        }
        const last = packets[packets.length - 1];
        this.step("driver", "rx.RDT", `The driver rings the doorbell: RDT is ${last}`, { batch, registers: { RDT: last }, owners: { [63]: "device", [this.top - 1]: "driver", ...Object.fromEntries(packets.map((p) => [p, "application"])) } });
        for (const packet of packets) {
            const bytes = Array.from({ length: 60 }, (_, at) => ((at * 7 + packet + (at === 1 ? 1 : 0)) % 256).toString(16).padStart(2, "0")).join("");
            this.step("application", "application.touch", `The application adds 1 to byte 1 of packet ${packet}`, { packet, frame: { length, bytes } });
            this.step("driver", "tx.address", `The driver writes transmit descriptor ${packet}`, { packet, batch, tx: { [packet]: ["full", packet, length, "0x0", "0x0"] }, owners: { [packet]: "driver" } });
        }
        this.step("driver", "tx.TDT", `The driver rings the doorbell: TDT is ${last + 1}`, { batch, registers: { TDT: last + 1 }, owners: Object.fromEntries(packets.map((p) => [p, "device"])) });
        for (const packet of packets) {
            this.step("device", "device.sends", `Packet ${packet} leaves`, { packet });
            this.step("device", "device.writes_back_tx", `The device sets DD in transmit descriptor ${packet}`, { packet, tx: { [packet]: ["done", packet, null, "0x0", "0x1"] }, owners: { [packet]: "driver" }, registers: { TDH: packet + 1 } });
        }
    }

    finish(id, title, kind, extra = {}) {
        const file = FILES[LANGUAGE[this.driver]];
        const code = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [45 + at, `\tline ${45 + at} of ${this.driver}; // <b>text</b>`]));
        const evidence = extra.evidence ? { outcome: extra.evidence, recorded: extra.evidence, text: "Seen in the fixture.", title, cwe: 130, provocation: "The device reports 4000 bytes.", why: null, noticed: [], wrong: ["bytes 60 to 4000 left on the wire"] } : null;
        return { format: "triptych-lab", version: 1, id, title, kind, driver: this.driver, build: "fixture -O2", patch: null, hazard: extra.hazard ?? null, ring_size: SIZE, batch: 4, buffer_bytes: 2048,
            code: { [file]: code }, points: Object.fromEntries(POINTS.map((point) => [point, this.line(point)])), steps: this.steps, evidence };
    }
}

function fixture() {
    const all = ["c", "rust", "rust-unsafe"].map((driver) => {
        const run = new Recorder(driver);
        run.start();
        [0, 1, 2, 3].forEach((packet) => run.arrive(packet, 60));
        run.forward(1, [0, 1, 2, 3], 60, true);
        for (let packet = 4; packet < 28; packet += 4) {
            [0, 1, 2, 3].forEach((n) => run.arrive(packet + n, 60));
            run.forward(1 + packet / 4, [0, 1, 2, 3].map((n) => packet + n));
        }
        return run.finish(`tour-${driver}`, "One packet's way", "tour");
    });
    for (const [hazard, title, outcomes] of [["dev-length-beyond-buffer", "length beyond the buffer", ["memory disclosed", "memory disclosed", "counted drop", "memory disclosed"]],
        ["dev-write-unmapped", "write to unmapped memory", Array(4).fill("contained by the IOMMU")], ["app-double-free", "free a packet twice", ["silent corruption", "panic/trap", "does not compile", "silent corruption"]]]) {
        Object.keys(LANGUAGE).forEach((driver, at) => {
            const run = new Recorder(driver);
            run.start();
            if (outcomes[at] !== "does not compile") {
                run.arrive(0, 4000, { note: "The length is beyond the buffer" });
                run.step("device", "device.refused", "The IOMMU refuses a write", { owners: { 9: "none" }, dma: [{ direction: "write", what: "frame", iova: "0xdead000", bytes: 60, refused: "not mapped" }] });
                run.forward(1, [0], 4000);
            }
            all.push(run.finish(`${hazard}-${driver}`, title, "hazard", { hazard, evidence: outcomes[at] }));
        });
    }
    return all;
}

function writeFixture(folder) {
    mkdirSync(folder, { recursive: true });
    const index = fixture().map(({ id, title, kind, driver, hazard, patch, evidence }) => ({ id, title, kind, driver, hazard, patch, outcome: evidence?.outcome, hazard_title: evidence?.title }));
    writeFileSync(join(folder, "index.js"), `labIndex(${JSON.stringify(index)});\n`);
    fixture().forEach((recording) => writeFileSync(join(folder, `${recording.id}.js`), `labRecording(${JSON.stringify(recording)});\n`));
}

module.exports = { fixture, writeFixture };
if (require.main === module) { writeFixture(process.argv[2]); }
