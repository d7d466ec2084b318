// A cloud of points on three canvases: axes, points, and on top whatever follows the pointer.
import { el } from '../lib/elements.js';
import { cssColour } from '../lib/theme.js';
import { colouring } from './colouring.js';
import { PointRaster } from './point_raster.js';
import { neighboursOf, run, TRAINING } from './data.js';
import { state } from './state.js';

const FONT = '12px system-ui, sans-serif';
const SMALLEST = 1.4, LARGEST = 5; // radius of a point in pixels
const SPACING = .3; // radius in units of the side of a square that each point would have to itself
const COVER = .12; // points of a layer that would cover a larger share of the plot are translucent
const FAINTEST = .25; // opacity of the points of the most crowded layer
const UNSELECTED = .14; // opacity of points outside the selection
const STRETCH = 1.35; // a map may be stretched by so much to use its room
const SLOW = 5000; // nodes above which a moving map is the last picture, moved, until it rests
const REST = 140; // milliseconds without movement after which it is drawn anew
const MANY_TRAINING = 150; // above it, the rings of training nodes are lighter

function labelledNodes() {
  const nodes = new Set(run.labelled.keys());
  for (let node = 0; node < run.nodeCount; node++) if (run.role[node] === TRAINING) nodes.add(node);
  return nodes;
}

// The length of the interval around .5 that holds all values.
const extentOf = (values) => 2 * values.reduce((most, value) => Math.max(most, Math.abs(value - .5)), .05);

export class ScatterPlot {
  // options: label, positions() -> {x, y} in [0, 1], zooms, axes() -> {x, y, xTitle, yTitle, lines}
  constructor(host, { label, positions, zooms = false, axes = null }) {
    this.host = host;
    this.positions = positions;
    this.zooms = zooms;
    this.axes = axes;
    this.resetView();
    this.hovered = -1; // the node under the pointer
    this.outline = null; // of the box or lasso that is being drawn
    this.raster = new PointRaster();
    this.axesCanvas = el('canvas', { 'aria-hidden': 'true' });
    this.pointCanvas = el('canvas', { class: 'points', 'aria-hidden': 'true' });
    this.topCanvas = el('canvas', { class: 'top', tabindex: 0, role: 'application', 'aria-label': label });
    host.append(this.axesCanvas, this.pointCanvas, this.topCanvas);
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
  }

  resize() {
    const ratio = globalThis.devicePixelRatio || 1;
    this.width = this.host.clientWidth;
    this.height = this.host.clientHeight;
    for (const canvas of [this.axesCanvas, this.pointCanvas, this.topCanvas]) {
      canvas.width = Math.round(this.width * ratio);
      canvas.height = Math.round(this.height * ratio);
      canvas.getContext('2d').setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.raster.resize(this.width, this.height, ratio);
    this.draw();
  }

  // From positions to pixels and back

  plotArea() {
    if (this.axes) return { left: 52, top: 12, width: this.width - 74, height: this.height - 56 };
    const { x, y } = this.positions();
    const width = (this.width - 24) / extentOf(x), height = (this.height - 24) / extentOf(y);
    const area = { width: Math.min(width, height * STRETCH), height: Math.min(height, width * STRETCH) };
    return { left: (this.width - area.width) / 2, top: (this.height - area.height) / 2, ...area };
  }

  toX(x) {
    return this.area.left + this.area.width * (.5 + (x - this.centreX) * this.zoom);
  }

  toY(y) {
    return this.area.top + this.area.height * (.5 + (y - this.centreY) * this.zoom);
  }

  fromX(pixel) {
    return ((pixel - this.area.left) / this.area.width - .5) / this.zoom + this.centreX;
  }

  fromY(pixel) {
    return ((pixel - this.area.top) / this.area.height - .5) / this.zoom + this.centreY;
  }

  pixelOf(node) {
    return [this.toX(this.at.x[node]), this.toY(this.at.y[node])];
  }

  nearest(x, y, reach = 12) {
    const { at, area, zoom } = this, reachX = reach / area.width / zoom, reachY = reach / area.height / zoom;
    const wantedX = this.fromX(x), wantedY = this.fromY(y);
    let best = -1, least = 1;
    for (let node = 0; node < run.nodeCount; node++) {
      const distance = ((at.x[node] - wantedX) / reachX) ** 2 + ((at.y[node] - wantedY) / reachY) ** 2;
      if (distance < least && (!state.filter || state.filter[node])) {
        least = distance;
        best = node;
      }
    }
    return best;
  }

  // A mask of the nodes within a polygon of pixels, by the parity of crossed sides.
  within(polygon) {
    const inside = new Uint8Array(run.nodeCount);
    for (let node = 0; node < run.nodeCount; node++) {
      const [x, y] = this.pixelOf(node);
      let [beforeX, beforeY] = polygon.at(-1);
      for (const [cornerX, cornerY] of polygon) {
        const crosses = cornerY > y !== beforeY > y;
        if (crosses && x < (beforeX - cornerX) * (y - cornerY) / (beforeY - cornerY) + cornerX) inside[node] ^= 1;
        [beforeX, beforeY] = [cornerX, cornerY];
      }
    }
    return inside;
  }

  // View

  zoomBy(factor, x = this.width / 2, y = this.height / 2) {
    const fixedX = this.fromX(x), fixedY = this.fromY(y);
    const zoom = Math.min(80, Math.max(1, this.zoom * factor));
    this.centreX = fixedX + (this.centreX - fixedX) * this.zoom / zoom;
    this.centreY = fixedY + (this.centreY - fixedY) * this.zoom / zoom;
    this.zoom = zoom;
    if (zoom === 1) this.resetView();
    this.moveLater();
  }

  resetView() {
    this.zoom = 1;
    this.centreX = this.centreY = .5;
  }

  showAll() {
    this.resetView();
    this.moveLater();
  }

  // After a movement: a small map is drawn at once, a large one when it rests.
  moveLater() {
    if (run.nodeCount <= SLOW || !this.drawn) {
      this.drawLater();
      return;
    }
    const { area, drawn, zoom } = this, scale = zoom / drawn.zoom;
    const moved = (start, size, before, now) => (start + size / 2) * (1 - scale) + size * (before - now) * zoom;
    const x = moved(area.left, area.width, drawn.centreX, this.centreX);
    const y = moved(area.top, area.height, drawn.centreY, this.centreY);
    this.pointCanvas.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
    this.drawTop();
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.settle(), REST);
  }

  // Draws a map that was moved as a picture.
  settle() {
    clearTimeout(this.resting);
    if (this.pointCanvas.style.transform) this.draw();
  }

  // Moves the view only if the node is outside it.
  bringIntoView(node) {
    const [x, y] = this.pixelOf(node);
    if (x > 20 && y > 20 && x < this.width - 20 && y < this.height - 20) return;
    this.centreX = this.at.x[node];
    this.centreY = this.at.y[node];
    this.draw();
  }

  // Drawing

  draw() {
    if (!this.width || !run.nodeCount) return;
    this.pointCanvas.style.transform = '';
    this.drawn = { zoom: this.zoom, centreX: this.centreX, centreY: this.centreY };
    this.area = this.plotArea();
    this.at = this.positions();
    this.background = cssColour('--panel');
    const room = Math.sqrt(this.area.width * this.area.height / run.nodeCount);
    const base = Math.min(LARGEST, Math.max(SMALLEST, SPACING * room));
    const radius = base * Math.min(2.4, this.zoom ** .4);
    if (radius !== this.radius) this.raster.forgetStamps();
    this.radius = radius;
    if (this.axes) this.drawAxes();
    this.raster.clear();
    if (state.filter) this.drawPoints((node) => !state.filter[node], UNSELECTED);
    this.drawPoints(state.filter ? (node) => state.filter[node] : () => true, 1);
    const pen = this.pointCanvas.getContext('2d');
    pen.putImageData(this.raster.image, 0, 0);
    this.drawTrainingRings(pen);
    this.drawTop();
  }

  drawLater() {
    if (this.frameRequested) return;
    this.frameRequested = true;
    requestAnimationFrame(() => {
      this.frameRequested = false;
      this.draw();
    });
  }

  forgetStyles() {
    this.raster.forgetStamps();
  }

  // Crowded layers are translucent, so that dense and sparse regions can be told apart.
  opacityOf({ style, crowd }) {
    const covered = crowd * Math.PI * (style.size * this.radius / this.zoom) ** 2 /
      (this.area.width * this.area.height);
    return Math.min(1, Math.max(FAINTEST, COVER / covered));
  }

  drawPoints(isDrawn, strength) {
    const { area, at, zoom, width, height } = this;
    const scaleX = area.width * zoom, scaleY = area.height * zoom;
    const startX = this.toX(0), startY = this.toY(0);
    for (const layer of colouring().layers) {
      const stamp = this.raster.stamp(layer.style, this.radius, this.background);
      const opacity = state.filter ? strength : this.opacityOf(layer);
      for (const node of layer.nodes) {
        if (!isDrawn(node)) continue;
        const x = startX + at.x[node] * scaleX, y = startY + at.y[node] * scaleY;
        if (x > -9 && y > -9 && x < width + 9 && y < height + 9) this.raster.put(stamp, x, y, opacity);
      }
    }
  }

  drawTrainingRings(pen) {
    pen.strokeStyle = cssColour('--ink');
    pen.lineWidth = Math.min(1.4, this.radius / 2);
    const nodes = labelledNodes();
    pen.globalAlpha = nodes.size > MANY_TRAINING ? .5 : .85;
    for (const node of nodes) this.drawRing(pen, node, 1.4 * this.radius + 1.6);
    pen.globalAlpha = 1;
  }

  drawRing(pen, node, radius) {
    pen.beginPath();
    pen.arc(...this.pixelOf(node), radius, 0, 2 * Math.PI);
    pen.stroke();
  }

  drawAxes() {
    const pen = this.axesCanvas.getContext('2d'), axes = this.axes(), { left, top, width, height } = this.area;
    pen.clearRect(0, 0, this.width, this.height);
    pen.font = FONT;
    pen.lineWidth = 1;
    pen.fillStyle = cssColour('--soft');
    pen.textAlign = 'center';
    pen.textBaseline = 'top';
    for (const [x, text] of axes.x) {
      this.drawLine(pen, '--grid', this.toX(x), top, this.toX(x), top + height);
      pen.fillText(text, this.toX(x), top + height + 5);
    }
    pen.fillText(axes.xTitle, left + width / 2, top + height + 24);
    pen.textAlign = 'right';
    pen.textBaseline = 'middle';
    for (const [y, text] of axes.y) {
      this.drawLine(pen, '--grid', left, this.toY(y), left + width, this.toY(y));
      pen.fillText(text, left - 6, this.toY(y));
    }
    pen.save();
    pen.translate(11, top + height / 2);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = 'center';
    pen.fillText(axes.yTitle, 0, 0);
    pen.restore();
    this.verticalLines = axes.lines;
  }

  drawLine(pen, colour, fromX, fromY, toX, toY) {
    pen.strokeStyle = cssColour(colour);
    pen.beginPath();
    pen.moveTo(fromX, fromY);
    pen.lineTo(toX, toY);
    pen.stroke();
  }

  // What follows the pointer, above the points.
  drawTop() {
    const pen = this.topCanvas.getContext('2d');
    pen.clearRect(0, 0, this.width, this.height);
    for (const [x, text] of this.verticalLines || []) this.drawVerticalLine(pen, this.toX(x), text);
    if (state.node >= 0) {
      if (this.zooms) this.drawEdges(pen, state.node);
      pen.strokeStyle = cssColour('--ink');
      pen.lineWidth = 3;
      this.drawRing(pen, state.node, this.radius + 6);
    }
    if (this.hovered >= 0 && this.hovered !== state.node) {
      pen.strokeStyle = cssColour('--accent');
      pen.lineWidth = 2;
      this.drawRing(pen, this.hovered, this.radius + 5);
    }
    if (this.outline) this.drawOutline(pen);
  }

  drawVerticalLine(pen, x, text) {
    const { left, top, width, height } = this.area;
    pen.setLineDash([6, 4]);
    pen.lineWidth = 2;
    this.drawLine(pen, '--ink', x, top, x, top + height);
    pen.setLineDash([]);
    pen.font = FONT;
    const textWidth = pen.measureText(text).width + 10;
    const textLeft = x + textWidth + 6 > left + width ? x - textWidth - 4 : x + 4;
    pen.fillStyle = this.background;
    pen.fillRect(textLeft, top + 2, textWidth, 18);
    pen.fillStyle = cssColour('--ink');
    pen.textAlign = 'left';
    pen.textBaseline = 'middle';
    pen.fillText(text, textLeft + 5, top + 11);
  }

  drawEdges(pen, node) {
    pen.strokeStyle = cssColour('--ink');
    pen.lineWidth = 1;
    const neighbours = neighboursOf(node);
    pen.globalAlpha = Math.min(.55, Math.max(.06, 9 / neighbours.length)); // a hub must not hide the points
    pen.beginPath();
    for (const neighbour of neighbours) {
      pen.moveTo(...this.pixelOf(node));
      pen.lineTo(...this.pixelOf(neighbour));
    }
    pen.stroke();
    pen.globalAlpha = 1;
  }

  // The box or lasso that is being drawn.
  drawOutline(pen) {
    pen.beginPath();
    for (const corner of this.outline) pen.lineTo(...corner);
    pen.closePath();
    pen.fillStyle = pen.strokeStyle = cssColour('--accent');
    pen.lineWidth = 1.5;
    pen.globalAlpha = .15;
    pen.fill();
    pen.globalAlpha = 1;
    pen.stroke();
  }
}
