// The map, and beside it what was found or the card of a node.
import { announce, button, byId, el } from '../lib/elements.js';
import { integer, isKnown, percent } from '../lib/format.js';
import { keepColouring, updateColouring } from './colouring.js';
import { run } from './data.js';
import { foundPanel } from './found.js';
import { makeInteractive } from './interaction.js';
import { drawLegend } from './legend.js';
import {
  columnTable,
  findReasons,
  neighbourList,
  nodeTags,
  probabilityLines,
  reasonTable,
  stageTable,
} from './node_card.js';
import { ScatterPlot } from './scatter_plot.js';
import { change, currentStage, state, watch } from './state.js';

let map = null;
const isNarrow = () => globalThis.innerWidth <= 900; // the card is below the map

function drawSide() {
  const { node } = state;
  byId('side').replaceChildren(...(node < 0 ? foundPanel() : cardOf(node)).flat(3).filter(Boolean));
  byId('side').scrollTop = 0;
}

function sayOnCard(text) {
  if (text && byId('card-message')) byId('card-message').textContent = text;
  else drawSide();
}

function cardOf(node) {
  return [
    el(
      'p',
      { class: 'buttons' },
      button('‹ What was found', () => change({ node: -1 })),
      run.live ? button('Label it', () => change({ view: 'label', asked: node })) : null,
      run.live && run.hasModel && !run.reasons[node] ? button('Why?', () => findReasons(node, sayOnCard)) : null,
    ),
    el('p', { id: 'card-message', class: 'hint', role: 'status' }),
    el('h2', { id: 'node-name' }, run.nodeIds[node]),
    el('div', null, nodeTags(node)),
    el('h3', null, run.shownStages.length > 1 ? `Class probabilities, ${currentStage().name}` : 'Class probabilities'),
    probabilityLines(node),
    reasonTable(node),
    columnTable(node),
    neighbourList(node),
    stageTable(node),
  ];
}

function drawStageBar() {
  const last = run.shownStages.length - 1, stage = currentStage();
  byId('stage-bar').hidden = last < 1;
  if (last < 1) return;
  const accuracy = isKnown(stage.testAccuracy) ? `test ${percent(stage.testAccuracy)}` : null;
  const parts = [stage.name, `${integer(stage.pseudoLabelled)} pseudo-labelled`, accuracy].filter(Boolean);
  byId('stage').max = last;
  byId('stage').value = state.stage;
  byId('stage').setAttribute('aria-valuetext', parts.join(', '));
  byId('stage-name').textContent = parts.slice(0, 2).join(' · ');
}

// Colours, points and the side panel: after a change of stage, model, colouring or theme.
export function drawMap() {
  updateColouring();
  drawLegend();
  drawStageBar();
  map.forgetStyles();
  map.draw();
  drawSide();
}

export function startMap() {
  updateColouring();
  map = new ScatterPlot(byId('map'), {
    label: 'Map of the nodes. Arrow keys go from point to point, Enter opens a node.',
    positions: () => run.mapPositions,
    zooms: true,
  });
  makeInteractive(map);
  const onClick = (id, call) => byId(id).addEventListener('click', call);
  onClick('zoom-in', () => map.zoomBy(1.5));
  onClick('zoom-out', () => map.zoomBy(1 / 1.5));
  onClick('show-all', () => map.showAll());
  byId('colour').addEventListener('change', () => {
    keepColouring();
    drawMap();
  });
  byId('stage').addEventListener('input', () => change({ stage: Number(byId('stage').value) }));
  byId('tool').addEventListener('change', ({ target }) => change({ tool: target.value }));
  watch(['stage'], drawMap);
  watch(['filter'], () => {
    drawLegend();
    map.draw();
  });
  watch(['node'], () => {
    drawSide();
    if (state.node >= 0) {
      if (isNarrow()) byId('side').scrollIntoView({ block: 'start' });
      map.bringIntoView(state.node);
      announce(`node ${run.nodeIds[state.node]}`);
    }
    map.drawTop();
  });
  watch(['tool'], () => {
    const moves = state.tool === 'move';
    byId('map').classList.toggle('moving', moves);
    byId('map').style.touchAction = moves ? 'pan-y' : 'none';
  });
}
