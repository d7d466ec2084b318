// What mouse, finger and keyboard do to a scatter plot.
import { announce } from '../lib/elements.js';
import { hideTooltip, showTooltip, tooltipText } from '../lib/tooltip.js';
import { nodeTooltip } from './node_text.js';
import { run } from './data.js';
import { change, setFilter, state } from './state.js';

const CLICK = 5; // pixels; a shorter drag is a click
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export function makeInteractive(plot) {
  const canvas = plot.topCanvas;
  let drag = null;

  const pixelOfEvent = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const hover = (node) => {
    if (node === plot.hovered) return;
    plot.hovered = node;
    plot.drawTop();
  };
  const leave = () => {
    hideTooltip();
    hover(-1);
  };
  const endDrag = () => {
    drag = null;
    plot.outline = null;
    plot.drawTop();
  };

  canvas.addEventListener('pointerdown', (event) => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    const [x, y] = pixelOfEvent(event);
    const moves = plot.zooms && state.tool === 'move' && !event.shiftKey;
    const kind = moves ? 'move' : state.tool === 'lasso' ? 'lasso' : 'box';
    drag = { kind, x, y, centreX: plot.centreX, centreY: plot.centreY, length: 0 };
    hideTooltip();
  });

  canvas.addEventListener('pointermove', (event) => {
    const [x, y] = pixelOfEvent(event);
    if (drag) {
      drag.length = Math.max(drag.length, Math.hypot(x - drag.x, y - drag.y));
      if (drag.length >= CLICK) continueDrag(plot, drag, x, y);
      return;
    }
    const node = plot.nearest(x, y);
    hover(node);
    if (node < 0) hideTooltip();
    else showTooltip(event.clientX, event.clientY, nodeTooltip(node));
  });

  canvas.addEventListener('pointerup', (event) => {
    if (!drag) return;
    const { kind, length } = drag, outline = plot.outline;
    endDrag();
    if (length < CLICK) {
      const node = plot.nearest(...pixelOfEvent(event));
      if (node >= 0) change({ node });
      else if (state.node >= 0) change({ node: -1 });
    } else if (outline) setFilter(plot.within(outline), kind === 'box' ? 'in the box' : 'in the lasso');
    else plot.settle();
  });

  canvas.addEventListener('pointercancel', endDrag);
  canvas.addEventListener('pointerleave', () => {
    if (!drag) leave();
  });
  canvas.addEventListener('blur', leave);

  // The wheel zooms once the plot has the focus; before, it scrolls the page.
  canvas.addEventListener('wheel', (event) => {
    if (!plot.zooms || !(event.ctrlKey || document.activeElement === canvas)) return;
    event.preventDefault();
    plot.zoomBy(Math.exp(-event.deltaY / 400), ...pixelOfEvent(event));
  }, { passive: false });

  canvas.addEventListener('keydown', (event) => {
    const { key } = event;
    if (key in ARROWS) stepTo(plot, nodeInDirection(plot, ...ARROWS[key]));
    else if (key === 'Enter' || key === ' ') {
      if (plot.hovered >= 0) change({ node: plot.hovered });
    } else if (key === 'Escape') {
      leave();
      change({ node: -1 });
      setFilter(null);
    } else if (plot.zooms && (key === '+' || key === '=')) plot.zoomBy(1.4);
    else if (plot.zooms && key === '-') plot.zoomBy(1 / 1.4);
    else if (plot.zooms && key === '0') plot.showAll();
    else return;
    event.preventDefault();
  });
}

function continueDrag(plot, drag, x, y) {
  if (drag.kind === 'move') {
    plot.centreX = drag.centreX - (x - drag.x) / plot.area.width / plot.zoom;
    plot.centreY = drag.centreY - (y - drag.y) / plot.area.height / plot.zoom;
    plot.moveLater();
    return;
  }
  if (drag.kind === 'box') plot.outline = [[drag.x, drag.y], [x, drag.y], [x, y], [drag.x, y]];
  else (plot.outline ||= [[drag.x, drag.y]]).push([x, y]);
  plot.drawTop();
}

// The nearest node within 45 degrees of a direction; -1 for none.
function nodeInDirection(plot, directionX, directionY) {
  const from = plot.hovered >= 0 ? plot.hovered : state.node;
  const [fromX, fromY] = from < 0 ? [plot.width / 2, plot.height / 2] : plot.pixelOf(from);
  let best = -1, least = Infinity;
  for (let node = 0; node < run.nodeCount; node++) {
    if (node === from) continue;
    const [x, y] = plot.pixelOf(node);
    const along = (x - fromX) * directionX + (y - fromY) * directionY;
    const across = Math.abs((x - fromX) * directionY) + Math.abs((y - fromY) * directionX);
    if (along > .5 && across <= along && along + 2 * across < least) {
      least = along + 2 * across;
      best = node;
    }
  }
  return best;
}

function stepTo(plot, node) {
  if (node < 0) return;
  plot.hovered = node;
  if (plot.zooms) plot.bringIntoView(node);
  plot.drawTop();
  const box = plot.topCanvas.getBoundingClientRect(), [x, y] = plot.pixelOf(node);
  showTooltip(box.left + x, box.top + y, nodeTooltip(node));
  announce(tooltipText());
}
