// Rows and lists as the text of one field: the same rules as evidence/domain/cells.py.
"use strict";

const UnitCells = {
  rows(text) {
    return this.read(text).filter((row) => row.some((cell) => cell !== ""));
  },

  list(text) {
    return this.read(text).map((row) => row.join("\t")).filter((entry) => entry.trim() !== "");
  },

  read(text) {
    const source = text.replace(/\r\n?/g, "\n");
    const quoted = /"((?:[^"]|"")*)"(?=[\t\n]|$)/y;
    const rows = [];
    let row = [];
    let place = 0;
    while (place <= source.length) {
      quoted.lastIndex = place;
      const found = source[place] === '"' ? quoted.exec(source) : null;
      const inside = found ? found[1].replaceAll('""', '"') : "";
      if (found && this.isDoubtful(inside)) {
        row.push(inside);
        place = quoted.lastIndex;
      } else {
        let end = place;
        while (end < source.length && source[end] !== "\t" && source[end] !== "\n") {
          end += 1;
        }
        row.push(source.slice(place, end));
        place = end;
      }
      if (source[place] !== "\t") {
        rows.push(row);
        row = [];
      }
      place += 1;
    }
    return rows;
  },

  written(rows) {
    return rows.map((row) => row.map((cell) => this.quoted(cell)).join("\t")).join("\n");
  },

  quoted(cell) {
    return this.isDoubtful(cell) && !/^"[^"\t\n]*"(?:\.[^"\t\n]+)*$/.test(cell)
      ? `"${cell.replaceAll('"', '""')}"`
      : cell;
  },

  isDoubtful(cell) {
    return /[\t\n]/.test(cell) || cell.startsWith('"');
  },
};
