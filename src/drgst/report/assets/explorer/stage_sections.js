// The sections below the map that follow the stage.
import { byId, el, emptyText, hint, responsive, table } from '../lib/elements.js';
import { capitalised, decimal, integer, isKnown, percent } from '../lib/format.js';
import { countMap, probabilityMap } from '../lib/heat_map.js';
import { classShareChart, confidenceChart } from './distribution_charts.js';
import { reliabilityChart } from './reliability_chart.js';
import { classNames, evaluatedOn, shownStages, stages } from './run_data.js';
import { currentStage } from './state.js';

const isCurrent = (stage) => stage === currentStage();
const someStage = (read) => stages.some((stage) => isKnown(read(stage)));

// A column of a table of stages; left out where no stage has a value.
const stageColumn = (title, read, format, kind = 'number') => ({
  title,
  kind,
  cell: (stage) => format(read(stage)),
  show: someStage(read),
});

export const hasTransition = shownStages.some((stage) => stage.transition);
export const hasPseudoLabelTruth = shownStages.some((stage) => stage.pseudoLabelConfusion);
export const hasCalibration = shownStages.some((stage) => stage.calibration);
export const hasConfusion = shownStages.some((stage) => stage.confusion);

function stageRemark({ isResult, isAccepted }) {
  const remark = isResult ? 'the result' : isAccepted ? '' : 'not kept';
  return remark ? el('div', { class: 'remark' }, remark) : null;
}

export function drawStageTable() {
  const columns = [
    { title: 'stage', cell: (stage) => [stage.name, stageRemark(stage)] },
    { title: 'pseudo-labelled', kind: 'number', cell: (stage) => integer(stage.pseudoLabelled) },
    stageColumn('of them right', (stage) => stage.pseudoLabelAccuracy, percent),
    stageColumn('validation', (stage) => stage.validationAccuracy, percent),
    stageColumn('test', (stage) => stage.testAccuracy, percent),
    stageColumn('epochs', (stage) => stage.epochs || null, integer, 'number wide-only'),
    stageColumn('seconds', (stage) => stage.seconds, (seconds) => seconds.toFixed(1), 'number wide-only'),
  ];
  byId('stage-table').replaceChildren(table(columns, stages, 'Stages', isCurrent));
}

// What the parts of the recipe reported of each stage: whole sentences, so not a column of the table.
export function drawStageNotes() {
  const noted = stages.filter((stage) => stage.note);
  byId('stage-notes').hidden = !noted.length;
  byId('stage-notes-list').replaceChildren(
    ...noted.flatMap((stage) => [el('dt', null, capitalised(stage.name)), el('dd', null, stage.note)]),
  );
}

function drawDistances() {
  const columns = [
    { title: 'stage', cell: (stage) => stage.name },
    stageColumn('classes: pseudo-labelled, all', (stage) => stage.classDistance.pseudoLabelledAll, decimal),
    stageColumn('pseudo-labelled, labelled', (stage) => stage.classDistance.pseudoLabelledLabelled, decimal),
    stageColumn('labelled, all', (stage) => stage.classDistance.labelledAll, decimal),
    stageColumn('predicted, true', (stage) => stage.classDistance.predictedTrue, decimal),
    stageColumn('confidence: pseudo-labelled, all', (stage) => stage.confidenceDistance.pseudoLabelledAll, decimal),
    stageColumn('labelled, all', (stage) => stage.confidenceDistance.labelledAll, decimal),
  ];
  byId('distances').replaceChildren(table(columns, stages, 'Distances', isCurrent));
}

function drawCorrectionText() {
  const { pseudoLabelAccuracy } = currentStage();
  const explained = 'T_kj is the estimated probability that a node of class k gets the pseudo-label j. It is ' +
    'estimated from labelled nodes only. A T with ones on the diagonal corrects nothing.';
  const accuracy = isKnown(pseudoLabelAccuracy)
    ? `${percent(pseudoLabelAccuracy)} of the pseudo-labels of this stage with a known class are right.`
    : 'No pseudo-labelled node of this stage has a known class.';
  byId('correction-text').textContent = [accuracy, hasTransition ? explained : ''].join(' ');
}

function transitionChart(width) {
  const { transition } = currentStage();
  if (!transition) return emptyText('There is none in this stage.');
  return probabilityMap(transition, width, classNames, 'true class', 'pseudo-label');
}

function pseudoLabelChart(width) {
  const { pseudoLabelConfusion } = currentStage();
  if (!pseudoLabelConfusion) return emptyText('No pseudo-labelled node of this stage has a known class.');
  return countMap(pseudoLabelConfusion, width, classNames, 'true class', 'pseudo-label');
}

function confusionChart(width) {
  const { confusion } = currentStage();
  return confusion ? countMap(confusion, width, classNames, 'true class', 'predicted') : null;
}

function drawCalibration() {
  const { calibration } = currentStage();
  if (!calibration) return;
  byId('calibration-text').textContent =
    `Of the ${calibration.nodes} nodes with a confidence of 80%, 80% should be right. Calibrated bars end on the ` +
    'line; bars below it are overconfident. Dashed: the gap. ECE is the mean gap over the nodes, in 20 bins.';
  const figure = (title, data, how) => {
    const chart = el('div', { class: 'chart' });
    responsive(chart, (width) => reliabilityChart(data, width));
    const figures = `ECE ${percent(data.ece)}; mean confidence ${percent(data.mean_confidence)}, ` +
      `accuracy ${percent(data.mean_accuracy)}`;
    return el(
      'figure',
      null,
      el('figcaption', null, title),
      hint(how ? `${capitalised(how)}: ${figures}` : figures),
      chart,
    );
  };
  const { before, after, how } = calibration;
  byId('reliability').replaceChildren(
    ...(after
      ? [figure('Before calibration', before), figure('After calibration', after, how)]
      : [figure('Not calibrated', before)]),
  );
}

function drawClasses() {
  const { confusion } = currentStage();
  if (!confusion) return;
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const scores = classNames.map((name, index) => {
    const right = confusion[index][index], truth = sum(confusion[index]);
    const called = sum(confusion.map((row) => row[index]));
    const precision = called ? right / called : null, recall = truth ? right / truth : null;
    return { name, precision, recall, f1: called + truth ? 2 * right / (called + truth) : null, truth, called };
  });
  const columns = [
    { title: 'class', kind: 'name', cell: ({ name }) => name },
    { title: 'precision', kind: 'number', cell: ({ precision }) => percent(precision) },
    { title: 'recall', kind: 'number', cell: ({ recall }) => percent(recall) },
    { title: 'F1', kind: 'number', cell: ({ f1 }) => percent(f1) },
    { title: 'nodes', kind: 'number', cell: ({ truth }) => integer(truth) },
    { title: 'predicted', kind: 'number', cell: ({ called }) => integer(called) },
  ];
  byId('classes-text').textContent = `Over the ${evaluatedOn} nodes.`;
  byId('per-class').replaceChildren(table(columns, scores, 'Class by class'));
}

const redrawCharts = [
  responsive(byId('class-shares'), (width) => classShareChart(currentStage().classShares, width)),
  responsive(byId('confidence'), (width) => confidenceChart(currentStage().confidenceShares, width)),
  responsive(byId('transition'), transitionChart),
  responsive(byId('pseudo-labels'), pseudoLabelChart),
  responsive(byId('confusion'), confusionChart),
];

export function drawStageSections() {
  drawDistances();
  drawCorrectionText();
  drawCalibration();
  drawClasses();
  for (const redraw of redrawCharts) redraw();
}
