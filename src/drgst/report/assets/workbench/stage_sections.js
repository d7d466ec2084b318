// The sections of the view Run that follow the stage; each is null where the run has nothing to show.
import { el, emptyText, hint, responsive, table } from '../lib/elements.js';
import { capitalised, decimal, integer, isKnown, percent } from '../lib/format.js';
import { countMap, probabilityMap } from '../lib/heat_map.js';
import { run } from './data.js';
import { classShareChart, confidenceChart } from './distribution_charts.js';
import { term } from './glossary.js';
import { reliabilityChart } from './reliability_chart.js';
import { currentStage } from './state.js';

const isCurrent = (stage) => stage === currentStage();
const someStage = (read) => run.stages.some((stage) => isKnown(read(stage)));
const someShown = (read) => run.shownStages.some((stage) => read(stage));

// A column of a table of stages; left out where no stage has a value.
const stageColumn = (title, read, format, kind = 'number') => ({
  title,
  kind,
  cell: (stage) => format(read(stage)),
  show: someStage(read),
});

function chart(draw, kind = 'chart scroll') {
  const host = el('div', { class: kind, tabindex: kind.includes('scroll') ? 0 : null });
  responsive(host, draw);
  return host;
}

export const figure = (title, ...content) => el('figure', null, el('figcaption', null, title), content);

function stageRemark({ isResult, isAccepted }) {
  const remark = isResult ? 'the result' : isAccepted ? '' : 'not kept';
  return remark ? el('div', { class: 'remark' }, remark) : null;
}

export function stageSection() {
  if (run.stages.length < 2) return null;
  const columns = [
    { title: 'stage', cell: (stage) => [stage.name, stageRemark(stage)] },
    { title: 'pseudo-labelled', kind: 'number', cell: (stage) => integer(stage.pseudoLabelled) },
    stageColumn('of them right', (stage) => stage.pseudoLabelAccuracy, percent),
    stageColumn('validation', (stage) => stage.validationAccuracy, percent),
    stageColumn('test', (stage) => stage.testAccuracy, percent),
    stageColumn('epochs', (stage) => stage.epochs || null, integer, 'number wide-only'),
    stageColumn('seconds', (stage) => stage.seconds, (seconds) => seconds.toFixed(1), 'number wide-only'),
  ];
  // What the parts of the recipe reported of each stage: whole sentences, so not a column of the table.
  const noted = run.stages.filter((stage) => stage.note);
  const notes = el(
    'details',
    { class: 'stage-notes' },
    el('summary', null, 'Notes on the stages'),
    el('dl', null, noted.flatMap((stage) => [el('dt', null, capitalised(stage.name)), el('dd', null, stage.note)])),
  );
  const about = [
    'The ',
    term('teacher'),
    ' is trained on the given labels. Each ',
    term('stage'),
    ' adds ',
    term('pseudo-label', 'pseudo-labels'),
    ' of the one before.',
  ];
  return [
    el('p', { class: 'hint' }, about),
    el('div', { id: 'stage-table', class: 'scroll', tabindex: 0 }, table(columns, run.stages, 'Stages', isCurrent)),
    noted.length ? notes : null,
  ];
}

export function shiftSection() {
  if (run.stages.length < 2) return null;
  const columns = [
    { title: 'stage', cell: (stage) => stage.name },
    stageColumn('classes: pseudo-labelled to all', (stage) => stage.classDistance.pseudoLabelledAll, decimal),
    stageColumn('classes: pseudo-labelled to labelled', (stage) => stage.classDistance.pseudoLabelledLabelled, decimal),
    stageColumn('classes: labelled to all', (stage) => stage.classDistance.labelledAll, decimal),
    stageColumn('classes: predicted to true', (stage) => stage.classDistance.predictedTrue, decimal),
    stageColumn('confidence: pseudo-labelled to all', (stage) => stage.confidenceDistance.pseudoLabelledAll, decimal),
    stageColumn('confidence: labelled to all', (stage) => stage.confidenceDistance.labelledAll, decimal),
  ];
  const text = 'A student is trained on labelled and pseudo-labelled nodes and used on all nodes. The more these ' +
    'differ, the less reliable its training. Distance of classes: total variation, the share of nodes that would ' +
    'change class. ' +
    'Distance of confidence: Wasserstein, the mean difference.';
  return [
    hint(text),
    el(
      'div',
      { class: 'pair' },
      figure('Classes', chart((width) => classShareChart(currentStage().classShares, width), 'chart scroll tall')),
      figure('Confidence', chart((width) => confidenceChart(currentStage().confidenceShares, width))),
    ),
    el('h3', null, 'Distances by stage'),
    el('div', { class: 'scroll', tabindex: 0 }, table(columns, run.stages, 'Distances', isCurrent)),
  ];
}

export function correctionSection() {
  const hasTransition = someShown((stage) => stage.transition);
  const hasTruth = someShown((stage) => stage.pseudoLabelConfusion) && run.hasTruth;
  if (!hasTransition && !hasTruth) return null;
  const { pseudoLabelAccuracy, transition, pseudoLabelConfusion } = currentStage();
  const explained = 'T_kj is the estimated probability that a node of class k gets the pseudo-label j. It is ' +
    'estimated from labelled nodes only. A T with ones on the diagonal corrects nothing.';
  const accuracy = isKnown(pseudoLabelAccuracy)
    ? `${percent(pseudoLabelAccuracy)} of the pseudo-labels of this stage with a known class are right.`
    : '';
  const corrected = transition
    ? chart((width) => probabilityMap(transition, width, run.classNames, 'true class', 'pseudo-label'))
    : emptyText('There is none in this stage.');
  const compared = pseudoLabelConfusion
    ? chart((width) => countMap(pseudoLabelConfusion, width, run.classNames, 'true class', 'pseudo-label'))
    : emptyText('No pseudo-labelled node of this stage has a known class.');
  return [
    hint([accuracy, hasTransition ? explained : ''].join(' ')),
    el(
      'div',
      { class: 'pair' },
      hasTransition ? el('div', { id: 'transition' }, figure('Transition matrix T of the stage', corrected)) : null,
      hasTruth ? figure('Pseudo-labels against true classes', compared) : null,
    ),
  ];
}

export function calibrationSection() {
  const { calibration } = currentStage();
  if (!calibration) return null;
  const text =
    `Of the ${calibration.nodes} nodes with a confidence of 80%, 80% should be right. Calibrated bars end on ` +
    'the line; bars below it are overconfident. Dashed: the gap. ECE is the mean gap over the nodes, in 20 bins.';
  const one = (title, data, how) => {
    const figures = `ECE ${percent(data.ece)}; mean confidence ${percent(data.mean_confidence)}, ` +
      `accuracy ${percent(data.mean_accuracy)}`;
    const words = how ? `${capitalised(how)}: ${figures}` : figures;
    return figure(title, hint(words), chart((width) => reliabilityChart(data, width), 'chart'));
  };
  const { before, after, how } = calibration;
  const shown = after
    ? [one('Before calibration', before), one('After calibration', after, how)]
    : [one('Not calibrated', before)];
  return [hint(text), el('div', { class: 'pair', id: 'reliability' }, shown)];
}

export function classSection() {
  const { confusion } = currentStage();
  if (!confusion) return null;
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const scores = run.classNames.map((name, index) => {
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
  return [
    hint(`Over the ${run.evaluatedOn} nodes.`),
    el(
      'div',
      { class: 'pair' },
      el('div', { class: 'scroll', id: 'per-class', tabindex: 0 }, table(columns, scores, 'Class by class')),
      figure(
        'Confusion matrix',
        chart((width) => countMap(confusion, width, run.classNames, 'true class', 'predicted')),
      ),
    ),
  ];
}
