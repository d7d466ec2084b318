// The page of a run: connects the controls, the plots and the sections.
import { announce, byId, el } from '../lib/elements.js';
import { integer, isKnown, percent } from '../lib/format.js';
import { startTheme } from '../lib/theme.js';
import { COLOURINGS, updateColouring } from './colouring.js';
import { gainAxes, gainPositions } from './gain_axes.js';
import { makeInteractive } from './interaction.js';
import { drawLegend } from './legend.js';
import { drawNodeCard } from './node_card.js';
import { drawFacts, drawSuggestions, hasSuggestions } from './run_sections.js';
import { hasGain, hasThreshold, mapPositions, nodeIds, shownStages } from './run_data.js';
import { ScatterPlot } from './scatter_plot.js';
import { startSearch } from './search.js';
import { drawSelection, startSelectionMenu } from './selection.js';
import {
  drawStageNotes,
  drawStageSections,
  drawStageTable,
  hasCalibration,
  hasConfusion,
  hasPseudoLabelTruth,
  hasTransition,
} from './stage_sections.js';
import { change, currentStage, state, watch } from './state.js';
import { drawTrainingCurves, hasTrainingCurves } from './training_curves.js';

// Hides what this run has nothing to show for, and the link to it.
function hideEmptySections() {
  const sections = {
    correction: hasTransition || hasPseudoLabelTruth,
    calibration: hasCalibration,
    classes: hasConfusion,
    training: hasTrainingCurves,
    next: hasSuggestions,
  };
  for (const [id, hasContent] of Object.entries(sections)) {
    byId(id).hidden = !hasContent;
    document.querySelector(`nav a[href="#${id}"]`).toggleAttribute('hidden', !hasContent);
  }
  byId('transition-figure').hidden = !hasTransition;
  byId('pseudo-labels-figure').hidden = !hasPseudoLabelTruth;
  byId('gain-figure').hidden = !hasGain;
  byId('gain-text').textContent = hasThreshold
    ? 'Unlabelled nodes right of the line are pseudo-labelled in the next stage.'
    : 'This recipe does not select by a threshold.';
}

function drawStageName() {
  const stage = currentStage();
  const accuracy = isKnown(stage.testAccuracy)
    ? `test ${percent(stage.testAccuracy)}`
    : isKnown(stage.validationAccuracy)
    ? `validation ${percent(stage.validationAccuracy)}`
    : null;
  const parts = [
    stage.name,
    stage.number ? `${integer(stage.pseudoLabelled)} pseudo-labelled` : 'training labels only',
    accuracy,
    stage.isResult ? 'the result' : null,
  ].filter(Boolean);
  byId('stage').value = state.stage;
  byId('stage').setAttribute('aria-valuetext', parts.join(', '));
  byId('stage-name').textContent = parts.join(' · ');
}

// After what is in view has been painted.
const afterPaint = (call) => requestAnimationFrame(() => setTimeout(call));

hideEmptySections();
startTheme(drawAll);
byId('colour').append(...COLOURINGS.map(({ key, title }) => el('option', { value: key }, title)));
startSelectionMenu();
startSearch();
updateColouring();

const map = new ScatterPlot(byId('map'), {
  label: 'Map of the nodes. Arrow keys go from point to point, Enter opens a node.',
  positions: () => mapPositions,
  zooms: true,
});
const gainPlot = hasGain
  ? new ScatterPlot(byId('gain'), {
    label: 'Confidence against information gain. Arrow keys go from point to point.',
    positions: gainPositions,
    axes: gainAxes,
  })
  : null;
const plots = [map, gainPlot].filter(Boolean);
for (const plot of plots) makeInteractive(plot);

function recolour() {
  updateColouring();
  drawLegend();
  for (const plot of plots) {
    plot.forgetStyles();
    plot.draw();
  }
}

function drawStage() {
  drawStageName();
  recolour();
  drawSelection();
  drawNodeCard();
  drawStageTable();
  afterPaint(drawStageSections);
}

function drawAll() {
  drawStage();
  drawStageNotes();
  drawFacts();
  afterPaint(() => {
    drawTrainingCurves();
    drawSuggestions();
  });
}

watch(['stage'], drawStage);
watch(['selected'], () => {
  drawLegend();
  drawSelection();
  for (const plot of plots) plot.draw();
  if (!state.selected) byId('select').value = '';
});
watch(['node'], () => {
  drawNodeCard();
  if (state.node >= 0) {
    map.bringIntoView(state.node);
    announce(`node ${nodeIds[state.node]}`);
  }
  for (const plot of plots) plot.drawTop();
});
watch(['tool'], () => {
  const moves = state.tool === 'move';
  byId('map').classList.toggle('moving', moves);
  for (const host of [byId('map'), byId('gain')]) host.style.touchAction = moves ? 'pan-y' : 'none';
});
watch(['logGain'], () => gainPlot?.draw());

const onClick = (id, call) => byId(id).addEventListener('click', call);
const lastStage = shownStages.length - 1;
byId('stage').max = lastStage;
for (const id of ['stage', 'stage-before', 'stage-after']) byId(id).disabled = lastStage === 0;
byId('stage').addEventListener('input', () => change({ stage: Number(byId('stage').value) }));
onClick('stage-before', () => change({ stage: Math.max(0, state.stage - 1) }));
onClick('stage-after', () => change({ stage: Math.min(lastStage, state.stage + 1) }));
byId('colour').addEventListener('change', recolour);
byId('tool').addEventListener('change', ({ target }) => change({ tool: target.value }));
byId('log-gain').addEventListener('change', ({ target }) => change({ logGain: target.checked }));
onClick('zoom-in', () => map.zoomBy(1.5));
onClick('zoom-out', () => map.zoomBy(1 / 1.5));
onClick('show-all', () => map.showAll());

// In the frame of a notebook, a link within the page would leave it.
document.addEventListener('click', (event) => {
  const link = event.target instanceof Element && event.target.closest('a[href^="#"]');
  if (!link) return;
  event.preventDefault();
  const goal = byId(link.getAttribute('href').slice(1));
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  goal.scrollIntoView({ behavior: still ? 'auto' : 'smooth' });
  goal.setAttribute('tabindex', -1);
  goal.focus({ preventScroll: true });
});

change({ tool: 'move' });
drawAll();
afterPaint(() => {
  document.documentElement.dataset.ready = 'yes';
});
