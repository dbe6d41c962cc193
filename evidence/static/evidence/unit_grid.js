// A field of rows as a table of cells. The field stays what is posted; without script it is edited.
"use strict";

const GRID_MOST_ROWS = 2000;

class UnitGrid {
  constructor(field, words) {
    this.field = field;
    this.words = words;
    this.headers = JSON.parse(field.dataset.table);
    this.box = document.createElement("div");
    this.box.className = "ep-grid";
    field.after(this.box);
    this.read();
    field.addEventListener("paste", () => window.setTimeout(() => this.read()));
  }

  // Fill the table from the field; a text of too many rows stays a text.
  read() {
    const rows = UnitCells.rows(this.field.value);
    const fits = rows.length <= GRID_MOST_ROWS && rows.every((row) => row.length <= this.headers.length);
    this.field.hidden = fits;
    this.box.replaceChildren();
    if (!fits) {
      const note = document.createElement("p");
      note.className = "ep-help";
      note.textContent = rows.length > GRID_MOST_ROWS ? `${this.words.tooMany} ${this.words.rows} ${rows.length}` : "";
      this.box.append(note);
      return;
    }
    this.build(rows.length ? rows : [[]]);
  }

  build(rows) {
    const scroll = document.createElement("div");
    scroll.className = "ep-scroll ep-grid-window";
    const table = document.createElement("table");
    table.className = "ep-grid-table";
    table.setAttribute("aria-labelledby", `${this.field.id}_label`);
    const head = table.createTHead().insertRow();
    for (const header of this.headers) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = header;
      head.append(cell);
    }
    head.insertCell();
    this.body = table.createTBody();
    this.body.append(...rows.map((row) => this.row(row)));
    scroll.append(table);
    const add = this.button(this.words.addRow, "ep-btn");
    add.addEventListener("click", () => {
      this.focus(this.addRow(this.body.rows.length), 0);
    });
    this.count = document.createElement("span");
    this.count.className = "ep-note";
    const bar = document.createElement("div");
    bar.className = "ep-row ep-grid-bar";
    bar.append(add, this.count);
    this.box.append(scroll, bar);
    this.number();
    for (const [name, listener] of Object.entries({
      input: () => this.changed(),
      keydown: (event) => this.keys(event),
      paste: (event) => this.paste(event),
      focusin: (event) => this.named(event.target),
      click: (event) => this.clicked(event),
    })) {
      this.body.addEventListener(name, listener);
    }
  }

  row(values) {
    const row = document.createElement("tr");
    this.headers.forEach((header, place) => {
      const cell = row.insertCell();
      cell.dataset.label = header;
      const area = document.createElement("textarea");
      area.rows = 1;
      area.value = values[place] ?? "";
      area.setAttribute("aria-label", header);
      area.spellcheck = place > 0;
      cell.append(area);
    });
    const last = row.insertCell();
    last.className = "ep-grid-end";
    const remove = this.button("×", "ep-btn ep-grid-remove");
    remove.setAttribute("aria-label", this.words.removeRow);
    last.append(remove);
    return row;
  }

  button(text, names) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = names;
    button.textContent = text;
    return button;
  }

  // Names that count rows are made for the row at hand: 2,000 rows need no renaming at each edit.
  named(target) {
    const row = target.closest("tr");
    const number = row.rowIndex;
    if (target.matches("textarea")) {
      target.setAttribute("aria-label", `${target.closest("td").dataset.label}, ${this.words.row} ${number}`);
    } else {
      target.setAttribute("aria-label", `${this.words.removeRow} ${number}`);
    }
  }

  clicked(event) {
    if (!event.target.matches(".ep-grid-remove")) {
      return;
    }
    const row = event.target.closest("tr");
    const next = row.nextElementSibling || row.previousElementSibling || this.addRow(0);
    row.remove();
    this.focus(next, 0);
    this.changed();
  }

  addRow(place) {
    const row = this.row([]);
    this.body.insertBefore(row, this.body.rows[place] ?? null);
    this.number();
    return row;
  }

  focus(row, place) {
    row.querySelectorAll("textarea")[place]?.focus();
  }

  // Enter goes one row down, as in a spreadsheet; Shift+Enter begins a line inside the cell.
  keys(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || !event.target.matches("textarea")) {
      return;
    }
    event.preventDefault();
    const row = event.target.closest("tr");
    const place = event.target.closest("td").cellIndex;
    this.focus(row.nextElementSibling ?? this.addRow(this.body.rows.length), place);
  }

  paste(event) {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!event.target.matches("textarea") || !/[\t\n\r]/.test(text.replace(/[\r\n]+$/, ""))) {
      return;
    }
    event.preventDefault();
    const rows = UnitCells.rows(text);
    const at = event.target.closest("tr").sectionRowIndex;
    const first = event.target.closest("td").cellIndex;
    const before = this.values();
    const widest = Math.max(...rows.map((row) => row.length));
    rows.forEach((row, offset) => {
      const target = (before[at + offset] ??= this.headers.map(() => ""));
      row.forEach((cell, place) => { target[first + place] = cell; });
    });
    this.field.value = UnitCells.written(before);
    this.field.dispatchEvent(new Event("input", { bubbles: true }));
    this.read();
    if (!this.field.hidden) {
      this.field.focus();
    } else {
      this.focus(this.body.rows[Math.min(at + rows.length, this.body.rows.length) - 1], Math.min(first + widest, this.headers.length) - 1);
    }
  }

  values() {
    return [...this.body.rows].map((row) => [...row.querySelectorAll("textarea")].map((area) => area.value));
  }

  changed() {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.write(), 150);
  }

  write() {
    window.clearTimeout(this.timer);
    if (this.field.hidden) {
      this.field.value = UnitCells.written(this.values().filter((row) => row.some((cell) => cell !== "")));
      this.number();
    }
  }

  number() {
    this.count.textContent = `${this.words.rows} ${this.body.rows.length}`;
  }
}
