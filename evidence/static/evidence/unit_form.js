// The typed form of a unit: tables, chips, SQL checked while one types, a live preview.
// Every part works without it: the fields are plain ones, and saving checks them.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  for (const form of document.querySelectorAll("form[data-unit-form]")) {
    new UnitForm(form);
  }
});

class UnitForm {
  constructor(form) {
    this.form = form;
    this.words = this.wordsOf(form);
    this.parts = [
      ...[...form.querySelectorAll("textarea[data-table]")].map((field) => new UnitGrid(field, this.words)),
      ...[...form.querySelectorAll("textarea[data-list]")].map(
        (field) => new UnitChips(field, this.words, (input, names) => this.complete(input, names)),
      ),
    ];
    for (const input of form.querySelectorAll("input[data-names]")) {
      this.complete(input, input.dataset.names);
    }
    for (const field of form.querySelectorAll("textarea[data-sql]")) {
      this.watch(field, this.placeAfter(field));
    }
    for (const field of form.querySelectorAll("textarea[data-sql-cell]")) {
      this.watchCells(field);
    }
    this.preview();
    this.labels();
    form.addEventListener("submit", () => this.write());
    form.addEventListener("keydown", (event) => this.saveKey(event));
  }

  wordsOf(form) {
    const words = {};
    for (const [name, value] of Object.entries(form.dataset)) {
      if (name.startsWith("words")) {
        words[name[5].toLowerCase() + name.slice(6)] = value;
      }
    }
    return words;
  }

  write() {
    for (const part of this.parts) {
      part.write();
    }
  }

  saveKey(event) {
    if ((event.ctrlKey || event.metaKey) && event.key === "s") {
      event.preventDefault();
      this.form.requestSubmit();
    }
  }

  // A label, or a problem that names a field, leads into the table or the chips that stand for it.
  labels() {
    const lead = (event, field) => {
      if (field?.hidden) {
        event.preventDefault();
        const box = field.nextElementSibling;
        const row = box?.querySelectorAll("tbody tr")[Number(event.currentTarget.dataset.row) - 1];
        (row ?? box)?.querySelector("textarea, input")?.focus();
      }
    };
    for (const label of this.form.querySelectorAll("label[for]")) {
      label.addEventListener("click", (event) => lead(event, document.getElementById(label.htmlFor)));
    }
    for (const link of this.form.querySelectorAll("a[data-focus]")) {
      link.addEventListener("click", (event) => {
        const field = document.getElementById(link.dataset.focus);
        lead(event, field);
        if (field && !field.hidden) {
          event.preventDefault();
          field.focus();
        }
      });
    }
  }

  // Names are fetched once, when the first field that wants them is entered.
  complete(input, names) {
    if (!names) {
      return;
    }
    input.setAttribute("list", `ep-names-${names}`);
    input.addEventListener("focus", () => {
      this.names ??= this.fetchNames();
    }, { once: true });
  }

  async fetchNames() {
    try {
      const answer = await fetch(this.form.dataset.complete, { headers: { Accept: "application/json" } });
      for (const [name, entries] of Object.entries(answer.ok ? await answer.json() : {})) {
        const list = document.createElement("datalist");
        list.id = `ep-names-${name}`;
        list.append(...entries.map((entry) => new Option(entry, entry)));
        this.form.append(list);
      }
    } catch {
      // Without names nothing is completed: what is typed is taken all the same.
    }
  }

  async post(address, data) {
    const token = this.form.querySelector("[name=csrfmiddlewaretoken]").value;
    return fetch(address, { method: "POST", body: data, headers: { "X-CSRFToken": token } });
  }

  placeAfter(element) {
    const place = document.createElement("div");
    place.className = "ep-sql-said";
    place.setAttribute("role", "status");
    element.after(place);
    return place;
  }

  // A cell that holds SQL is watched from when it is first entered.
  watchCells(field) {
    const box = field.nextElementSibling;
    const place = this.placeAfter(box);
    box.addEventListener("focusin", (event) => {
      const cell = event.target.closest("td");
      if (event.target.matches("textarea") && cell.cellIndex === Number(field.dataset.sqlCell)
        && !event.target.dataset.watched) {
        event.target.dataset.watched = "yes";
        this.watch(event.target, place);
      }
    });
  }

  watch(field, place) {
    let timer = 0;
    let asked = 0;
    const ask = async () => {
      const mine = (asked += 1);
      const data = new FormData();
      data.set("sql", field.value);
      data.set("columns", this.form.elements.namedItem("payload_columns")?.value ?? "");
      try {
        const answer = await this.post(this.form.dataset.check, data);
        if (answer.ok && mine === asked) {
          this.say(place, field, await answer.json());
        }
      } catch {
        place.replaceChildren();
      }
    };
    const soon = () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(ask, 400);
    };
    field.addEventListener("input", soon);
    this.form.elements.namedItem("payload_columns")?.addEventListener("input", soon);
  }

  say(place, field, said) {
    // What the server said of the text as it was saved is past once it was checked again.
    field.parentElement.querySelector(".ep-field-errors")?.remove();
    const words = document.createElement("p");
    if (said.ok) {
      words.textContent = field.value.trim() ? `✓ ${this.words.sound}` : "";
      words.className = "ep-help";
      field.parentElement.classList.remove("ep-wrong");
      field.removeAttribute("aria-invalid");
      place.replaceChildren(words);
      return;
    }
    words.textContent = said.text;
    const code = document.createElement("small");
    code.className = "ep-code";
    code.textContent = said.code;
    words.append(" ", code);
    place.replaceChildren(words);
    field.parentElement.classList.add("ep-wrong");
    field.setAttribute("aria-invalid", "true");
    if (said.offset !== null) {
      place.append(this.caret(field, said));
    }
  }

  // The line at fault with a mark below the character; a button puts the cursor there.
  caret(field, said) {
    const box = document.createElement("div");
    const go = document.createElement("button");
    go.type = "button";
    go.className = "ep-link-button";
    go.textContent = `${this.words.line} ${said.line}, ${this.words.character} ${said.column}`;
    go.addEventListener("click", () => {
      const start = [...field.value.normalize("NFC")].slice(0, said.offset).join("").length;
      field.focus();
      field.setSelectionRange(start, start + 1);
    });
    const shown = document.createElement("pre");
    shown.className = "ep-caret";
    shown.setAttribute("aria-hidden", "true");
    const before = [...said.source].slice(0, said.column - 1).map((each) => (each === "\t" ? "\t" : " "));
    shown.textContent = `${said.source}\n${before.join("")}^`;
    box.append(go, shown);
    return box;
  }

  preview() {
    const button = this.form.querySelector("button[name=preview]");
    const section = document.getElementById("preview");
    const place = section?.querySelector("[data-preview-place]");
    if (!button || !place) {
      return;
    }
    const show = async () => {
      this.write();
      try {
        const answer = await this.post(this.form.dataset.preview, new FormData(this.form));
        if (answer.ok && answer.status === 200) {
          // Clean HTML: the server lets only an allow-list of tags through.
          place.innerHTML = await answer.text();
        }
      } catch {
        // The network is away: what was shown last stays.
      }
    };
    let timer = 0;
    button.setAttribute("aria-expanded", String(!section.hidden));
    button.setAttribute("aria-controls", "preview");
    button.addEventListener("click", async (event) => {
      event.preventDefault();
      section.hidden = !section.hidden;
      button.setAttribute("aria-expanded", String(!section.hidden));
      if (!section.hidden) {
        await show();
        section.scrollIntoView({ block: "nearest" });
      }
    });
    this.form.addEventListener("input", () => {
      window.clearTimeout(timer);
      if (!section.hidden) {
        timer = window.setTimeout(show, 600);
      }
    });
  }
}
