// A field of one name a line as chips, completed with what exists. The field stays what is posted.
"use strict";

class UnitChips {
  constructor(field, words, complete) {
    this.field = field;
    this.words = words;
    this.box = document.createElement("div");
    this.box.className = "ep-chip-box";
    this.box.setAttribute("role", "group");
    this.box.setAttribute("aria-labelledby", `${field.id}_label`);
    this.list = document.createElement("ul");
    this.list.className = "ep-chips";
    this.input = document.createElement("input");
    this.input.type = "text";
    this.input.autocomplete = "off";
    this.input.setAttribute("aria-label", `${words.add}: ${document.getElementById(`${field.id}_label`).textContent}`);
    const described = field.getAttribute("aria-describedby");
    if (described) {
      this.input.setAttribute("aria-describedby", described);
    }
    complete(this.input, field.dataset.names);
    const add = document.createElement("button");
    add.type = "button";
    add.className = "ep-btn";
    add.textContent = words.add;
    add.addEventListener("click", () => this.take());
    const bar = document.createElement("div");
    bar.className = "ep-chip-bar";
    bar.append(this.input, add);
    this.box.append(this.list, bar);
    field.after(this.box);
    field.hidden = true;
    this.input.addEventListener("keydown", (event) => this.keys(event));
    this.input.addEventListener("paste", (event) => this.paste(event));
    this.input.addEventListener("blur", () => this.take());
    this.show();
  }

  entries() {
    return UnitCells.list(this.field.value);
  }

  keys(event) {
    if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      this.take();
    } else if (event.key === "Backspace" && this.input.value === "") {
      this.store(this.entries().slice(0, -1));
    }
  }

  paste(event) {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (/[\n\r]/.test(text.trim())) {
      event.preventDefault();
      this.store([...this.entries(), ...UnitCells.list(text).map((entry) => entry.trim())]);
    }
  }

  // What was typed becomes a chip; twice the same is once.
  take() {
    const entry = this.input.value.trim();
    this.input.value = "";
    if (entry) {
      this.store([...this.entries().filter((each) => each !== entry), entry]);
    }
  }

  store(entries) {
    this.field.value = UnitCells.written(entries.map((entry) => [entry]));
    this.field.dispatchEvent(new Event("input", { bubbles: true }));
    this.show();
  }

  show() {
    this.list.replaceChildren(...this.entries().map((entry, place) => {
      const chip = document.createElement("li");
      const remove = document.createElement("button");
      remove.type = "button";
      remove.className = "ep-chip-remove";
      remove.textContent = "×";
      remove.setAttribute("aria-label", `${this.words.remove} ${entry}`);
      remove.addEventListener("click", () => {
        this.store(this.entries().filter((_, other) => other !== place));
        (this.list.querySelectorAll("button")[place] ?? this.input).focus();
      });
      chip.append(entry, remove);
      return chip;
    }));
    this.list.hidden = !this.list.children.length;
  }

  write() {
    this.take();
  }
}
