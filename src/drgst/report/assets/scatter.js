// A cloud of points on canvas: a layer for the axes, one for the points, one above for what moves.
const dense = Math.min(5, Math.max(2.1, 170 / Math.sqrt(N))); // radius of a point

class Scatter {
  // options: zooms, axes() -> {x, y, xWords, yWords, lines}, place() -> {x, y} in [0, 1], words
  constructor(host, options) {
    Object.assign(this, {host, ...options, zoom: 1, midX: .5, midY: .5, pixels: new Pixels(), drag: null, cursor: -1});
    this.back = el('canvas', {'aria-hidden': 'true'});
    this.base = el('canvas', {class: 'base', 'aria-hidden': 'true'});
    this.over = el('canvas', {class: 'over', tabindex: 0, role: 'application', 'aria-label': this.words});
    host.append(this.back, this.base, this.over);
    new ResizeObserver(() => this.resize()).observe(host);
    this.listen();
    this.resize();
  }
  resize() {
    const ratio = window.devicePixelRatio || 1;
    this.width = this.host.clientWidth; this.height = this.host.clientHeight;
    for (const canvas of [this.back, this.base, this.over]) {
      canvas.width = Math.round(this.width * ratio); canvas.height = Math.round(this.height * ratio);
      canvas.getContext('2d').setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.pixels.resize(this.width, this.height, ratio);
    this.draw();
  }
  // Where things are
  frame() {
    if (this.axes) return {left: 52, top: 12, width: this.width - 74, height: this.height - 56};
    const side = Math.min(this.width, this.height) - 24;
    const wide = Math.min(this.width - 24, side * 1.35); // a map may be stretched a little to use its room
    return {left: (this.width - wide) / 2, top: (this.height - side) / 2, width: wide, height: side};
  }
  toX(x) { const f = this.f; return f.left + f.width * (.5 + (x - this.midX) * this.zoom); }
  toY(y) { const f = this.f; return f.top + f.height * (.5 + (y - this.midY) * this.zoom); }
  fromX(px) { return (px - this.f.left) / this.f.width / this.zoom - .5 / this.zoom + this.midX; }
  fromY(py) { return (py - this.f.top) / this.f.height / this.zoom - .5 / this.zoom + this.midY; }
  nearest(px, py, reach = 12) {
    let best = -1, least = reach * reach;
    for (let i = 0; i < N; i++) {
      const dx = this.toX(this.at.x[i]) - px, dy = this.toY(this.at.y[i]) - py, far = dx * dx + dy * dy;
      if (far < least) { least = far; best = i; }
    }
    return best;
  }
  // Drawing
  draw() {
    if (!this.width) return;
    this.f = this.frame(); this.at = this.place(); this.edge = colourOf('--panel');
    const radius = (this.axes ? dense * .8 : dense) * Math.min(2.4, this.zoom ** .4);
    if (radius !== this.radius) { this.pixels.forget(); this.radius = radius; }
    if (this.axes) this.drawAxes(this.back.getContext('2d'));
    this.pixels.clear();
    for (const bright of state.selected ? [false, true] : [true]) this.drawPoints(bright);
    const pen = this.base.getContext('2d');
    pen.putImageData(this.pixels.image, 0, 0);
    this.drawTraining(pen, radius);
    this.drawOver();
  }
  drawPoints(bright) {
    const some = state.selected, {x: xs, y: ys} = this.at, x0 = this.toX(0), y0 = this.toY(0), dx = this.toX(1) - x0, dy = this.toY(1) - y0;
    for (let i = 0; i < N; i++) {
      if (some && Boolean(some[i]) !== bright) continue;
      const x = x0 + dx * xs[i], y = y0 + dy * ys[i];
      if (x > -9 && y > -9 && x < this.width + 9 && y < this.height + 9) this.pixels.put(this.pixels.stamp(look(i), this.radius, this.edge), x, y, bright ? 1 : .14);
    }
  }
  drawTraining(pen, radius) {
    pen.strokeStyle = colourOf('--ink'); pen.lineWidth = 1.4;
    for (let i = 0; i < N; i++) if (role[i] === TRAINING) this.ring(pen, i, radius + 3);
  }
  ring(pen, i, r) { pen.beginPath(); pen.arc(this.toX(this.at.x[i]), this.toY(this.at.y[i]), r, 0, 7); pen.stroke(); }
  drawAxes(pen) {
    const axes = this.axes(), f = this.f;
    pen.clearRect(0, 0, this.width, this.height);
    pen.font = '12px system-ui, sans-serif'; pen.lineWidth = 1;
    pen.textAlign = 'center'; pen.textBaseline = 'top';
    for (const [at, words] of axes.x) { this.stroke(pen, '--grid', this.toX(at), f.top, this.toX(at), f.top + f.height); pen.fillStyle = colourOf('--soft'); pen.fillText(words, this.toX(at), f.top + f.height + 5); }
    pen.fillText(axes.xWords, f.left + f.width / 2, f.top + f.height + 24);
    pen.textAlign = 'right'; pen.textBaseline = 'middle';
    for (const [at, words] of axes.y) { this.stroke(pen, '--grid', f.left, this.toY(at), f.left + f.width, this.toY(at)); pen.fillText(words, f.left - 6, this.toY(at)); }
    pen.save(); pen.translate(11, f.top + f.height / 2); pen.rotate(-Math.PI / 2); pen.textAlign = 'center'; pen.fillText(axes.yWords, 0, 0); pen.restore();
    this.lines = axes.lines;
  }
  stroke(pen, colour, x0, y0, x1, y1) { pen.strokeStyle = colourOf(colour); pen.beginPath(); pen.moveTo(x0, y0); pen.lineTo(x1, y1); pen.stroke(); }
  drawLines(pen) {
    for (const [at, words] of this.lines || []) {
      pen.setLineDash([6, 4]); pen.lineWidth = 2;
      this.stroke(pen, '--ink', this.toX(at), this.f.top, this.toX(at), this.f.top + this.f.height);
      pen.setLineDash([]);
      const wide = pen.measureText(words).width + 10, left = this.toX(at) + wide + 6 > this.f.left + this.f.width ? this.toX(at) - wide - 4 : this.toX(at) + 4;
      pen.font = '12px system-ui, sans-serif'; pen.fillStyle = this.edge; pen.fillRect(left, this.f.top + 2, wide, 18);
      pen.fillStyle = colourOf('--ink'); pen.textAlign = 'left'; pen.textBaseline = 'middle'; pen.fillText(words, left + 5, this.f.top + 11);
    }
  }
  drawOver() {
    const pen = this.over.getContext('2d'), ink = colourOf('--ink');
    pen.clearRect(0, 0, this.width, this.height);
    this.drawLines(pen);
    if (state.node >= 0) {
      if (this.zooms) this.drawEdges(pen, state.node);
      pen.strokeStyle = ink; pen.lineWidth = 3; this.ring(pen, state.node, dense + 6);
    }
    if (this.cursor >= 0 && this.cursor !== state.node) { pen.strokeStyle = colourOf('--accent'); pen.lineWidth = 2; this.ring(pen, this.cursor, dense + 5); }
    if (this.drag && this.drag.path) {
      pen.beginPath(); this.drag.path.forEach(([x, y], at) => at ? pen.lineTo(x, y) : pen.moveTo(x, y)); pen.closePath();
      pen.globalAlpha = .15; pen.fillStyle = colourOf('--accent'); pen.fill(); pen.globalAlpha = 1;
      pen.lineWidth = 1.5; pen.strokeStyle = colourOf('--accent'); pen.stroke();
    }
  }
  drawEdges(pen, node) {
    pen.strokeStyle = colourOf('--ink'); pen.lineWidth = 1; pen.globalAlpha = .55; pen.beginPath();
    for (let e = indptr[node]; e < indptr[node + 1]; e++) {
      pen.moveTo(this.toX(this.at.x[node]), this.toY(this.at.y[node]));
      pen.lineTo(this.toX(this.at.x[neighbour[e]]), this.toY(this.at.y[neighbour[e]]));
    }
    pen.stroke(); pen.globalAlpha = 1;
  }
  later() { if (!this.asked) { this.asked = true; requestAnimationFrame(() => { this.asked = false; this.draw(); }); } }
}
