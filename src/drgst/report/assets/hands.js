// What a person does to a cloud of points: with a mouse, a finger or the keyboard.
Object.assign(Scatter.prototype, {
  listen() {
    const on = (name, call, options) => this.over.addEventListener(name, call, options);
    on('pointerdown', event => this.press(event));
    on('pointermove', event => this.drag ? this.pull(event) : this.hover(event));
    on('pointerup', event => this.release(event));
    on('pointercancel', () => { this.drag = null; this.drawOver(); });
    on('pointerleave', () => { if (!this.drag) { hideTip(); this.cursor = -1; this.drawOver(); } });
    on('wheel', event => this.wheel(event), {passive: false});
    on('keydown', event => this.key(event));
    on('blur', () => { this.cursor = -1; hideTip(); this.drawOver(); });
  },
  spot(event) { const box = this.over.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; },
  press(event) {
    if (event.button) return;
    this.over.setPointerCapture(event.pointerId);
    const [x, y] = this.spot(event), moves = this.zooms && state.tool === 'move' && !event.shiftKey;
    const kind = moves ? 'move' : state.tool === 'lasso' ? 'lasso' : 'box';
    this.drag = {kind, x, y, midX: this.midX, midY: this.midY, far: 0, path: null, event};
    hideTip();
  },
  pull(event) {
    const [x, y] = this.spot(event), drag = this.drag;
    drag.far = Math.max(drag.far, Math.hypot(x - drag.x, y - drag.y));
    if (drag.far < 5) return;
    if (drag.kind === 'move') {
      this.midX = drag.midX - (x - drag.x) / this.f.width / this.zoom;
      this.midY = drag.midY - (y - drag.y) / this.f.height / this.zoom;
      this.later();
      return;
    }
    if (drag.kind === 'box') drag.path = [[drag.x, drag.y], [x, drag.y], [x, y], [drag.x, y]];
    else (drag.path ||= [[drag.x, drag.y]]).push([x, y]);
    this.drawOver();
  },
  release(event) {
    const drag = this.drag;
    this.drag = null;
    if (!drag) return;
    if (drag.far < 5) {
      const node = this.nearest(...this.spot(event));
      if (node >= 0) change({node}); else if (state.selected || state.node >= 0) change({node: -1, selected: null, chosen: ''});
    } else if (drag.path) select(this.within(drag.path), drag.kind === 'box' ? 'in the box' : 'in the lasso');
    this.drawOver();
  },
  within(path) {
    const inside = new Uint8Array(N);
    for (let i = 0; i < N; i++) {
      const x = this.toX(this.at.x[i]), y = this.toY(this.at.y[i]);
      let odd = false;
      for (let a = 0, b = path.length - 1; a < path.length; b = a++) {
        const [xa, ya] = path[a], [xb, yb] = path[b];
        if (ya > y !== yb > y && x < (xb - xa) * (y - ya) / (yb - ya) + xa) odd = !odd;
      }
      if (odd) inside[i] = 1;
    }
    return inside;
  },
  hover(event) {
    const node = this.nearest(...this.spot(event));
    if (node !== this.cursor) { this.cursor = node; this.drawOver(); }
    if (node < 0) hideTip(); else showTip(event.clientX, event.clientY, nodeWords(node));
  },
  wheel(event) { // without a click on it first, the page scrolls
    if (!this.zooms || !(event.ctrlKey || document.activeElement === this.over)) return;
    event.preventDefault();
    this.zoomBy(Math.exp(-event.deltaY / 400), ...this.spot(event));
  },
  zoomBy(times, px = this.width / 2, py = this.height / 2) {
    const x = this.fromX(px), y = this.fromY(py), zoom = Math.min(80, Math.max(1, this.zoom * times));
    this.midX = x + (this.midX - x) * this.zoom / zoom;
    this.midY = y + (this.midY - y) * this.zoom / zoom;
    this.zoom = zoom;
    if (zoom === 1) this.midX = this.midY = .5;
    this.later();
  },
  whole() { Object.assign(this, {zoom: 1, midX: .5, midY: .5}); this.later(); },
  bring(node) { // move as little as needed to see it
    const x = this.toX(this.at.x[node]), y = this.toY(this.at.y[node]);
    if (x > 20 && y > 20 && x < this.width - 20 && y < this.height - 20) return;
    this.midX = this.at.x[node]; this.midY = this.at.y[node];
    this.draw();
  },
  key(event) {
    const way_ = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
    if (way_) this.step(...way_);
    else if (event.key === 'Enter' || event.key === ' ') { if (this.cursor >= 0) change({node: this.cursor}); }
    else if (event.key === 'Escape') { this.cursor = -1; hideTip(); change({node: -1, selected: null, chosen: ''}); }
    else if (this.zooms && (event.key === '+' || event.key === '=')) this.zoomBy(1.4);
    else if (this.zooms && event.key === '-') this.zoomBy(1 / 1.4);
    else if (this.zooms && event.key === '0') this.whole();
    else return;
    event.preventDefault();
  },
  step(dx, dy) { // the nearest point that way
    const from = this.cursor >= 0 ? this.cursor : state.node;
    const x = from < 0 ? this.width / 2 : this.toX(this.at.x[from]), y = from < 0 ? this.height / 2 : this.toY(this.at.y[from]);
    let best = -1, least = Infinity;
    for (let i = 0; i < N; i++) {
      if (i === from) continue;
      const ax = this.toX(this.at.x[i]) - x, ay = this.toY(this.at.y[i]) - y, along = ax * dx + ay * dy, across = Math.abs(ax * dy) + Math.abs(ay * dx);
      if (along > .5 && across <= along && along + 2 * across < least) { least = along + 2 * across; best = i; }
    }
    if (best < 0) return;
    this.cursor = best;
    if (this.zooms) this.bring(best);
    this.drawOver();
    const box = this.over.getBoundingClientRect();
    showTip(box.left + this.toX(this.at.x[best]), box.top + this.toY(this.at.y[best]), nodeWords(best));
    say(tip.textContent);
  },
});
