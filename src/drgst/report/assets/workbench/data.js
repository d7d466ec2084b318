// The run as Python wrote it: numbers as JSON, arrays as base64. Only this module knows the keys of the JSON.
import { isKnown } from '../lib/format.js';

const ARRAY_TYPES = {
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
  i2: Int16Array,
  f4: Float32Array,
  f8: Float64Array,
};
const SHARE_OF_ONE = 65535; // how a share of 1 is stored in 16 bits
const SOME = 2000; // cells that tell the decimals of a column
const DECIMALS = 6; // above which numbers are written with 7 digits
const NO_GAIN = 1e-6; // rounding: of an ensemble of one view
const NO_TEXT = 2 ** 32 - 1; // the code of a missing cell
export const TRAINING = 1; // role of a training node

/** @type {any} all that is known of the run; a refit replaces what depends on the model */
export const run = { nodeCount: 0 };

export function unpack(packed) {
  const text = atob(packed.data), bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return new ARRAY_TYPES[packed.kind](bytes.buffer);
}

export function loadPage(json) {
  const { nodes } = json;
  Object.assign(run, {
    live: json.live,
    title: json.title,
    notes: json.notes,
    reasons: json.reasons,
    nodeCount: nodes.count,
    totalNodes: nodes.total,
    nodeIds: nodes.ids,
    degree: unpack(nodes.degree),
    neighbourStart: unpack(nodes.indptr),
    neighbourList: unpack(nodes.neighbours),
    columns: json.columns.map(unpackColumn),
    labelled: new Map(), // place -> class name: labels of the labels file
  });
  loadPositions(nodes);
  loadModel(json);
}

export function loadPositions({ x, y }) {
  run.mapPositions = {
    x: Float32Array.from(unpack(x), (share) => share / SHARE_OF_ONE),
    y: Float32Array.from(unpack(y), (share) => 1 - share / SHARE_OF_ONE),
  };
}

function decimalsOf(value) {
  const text = String(Number(value.toPrecision(7)));
  return text.includes('e') ? Infinity : (text.split('.')[1] ?? '').length;
}

// {name, isNumber, value(node), text(node)}; the numbers of a column have equally many decimals
function unpackColumn({ name, values, texts, codes }) {
  if (values) {
    const numbers = unpack(values);
    const digits = numbers.slice(0, SOME).reduce((most, value) => Math.max(most, decimalsOf(value)), 0);
    const write = (value) => digits <= DECIMALS ? value.toFixed(digits) : String(Number(value.toPrecision(7)));
    const text = (node) => Number.isNaN(numbers[node]) ? '' : write(numbers[node]);
    return { name, isNumber: true, value: (node) => numbers[node], text };
  }
  const places = unpack(codes);
  const text = (node) => places[node] === NO_TEXT ? '' : texts[places[node]];
  return { name, isNumber: false, value: text, text, texts, codes: places };
}

const nothing = (fill, Type) => new Type(run.nodeCount).fill(fill);

export function loadModel({ model, facts }) {
  run.hasModel = Boolean(model);
  run.fit = (run.fit ?? 0) + 1; // another number after every fit
  run.facts = facts;
  const given = model ?? { classes: [], roles: [], stages: [], shown: [], cards: [], sentences: [], decide: {} };
  Object.assign(run, {
    classNames: given.classes,
    classCount: given.classes.length,
    roleNames: given.roles,
    threshold: given.threshold,
    hasThreshold: isKnown(given.threshold),
    evaluatedOn: given.evaluated_on, // 'test' or 'validation', '' where neither has known labels
    cards: given.cards,
    sentences: given.sentences,
    found: given.found ?? null,
    decide: given.decide,
    review: given.review ?? null,
    suggestions: given.suggested ?? { note: '', rows: [] },
    stages: given.stages.map(readStage),
  });
  run.shownStages = given.shown.map((place) => run.stages[place]); // those with the data of single nodes
  run.suggestedNodes = new Set(run.suggestions.rows.map((row) => row.node));
  loadNodes(given.nodes);
}

function loadNodes(nodes) {
  run.given = nodes ? unpack(nodes.given) : nothing(-1, Int16Array); // labels that the run was given, -1 for none
  run.truth = nodes?.truth ? unpack(nodes.truth) : nothing(-1, Int16Array); // labels that were hidden from it
  run.role = nodes ? unpack(nodes.role) : nothing(0, Uint8Array); // a place in roleNames
  run.enteredStage = nodes ? unpack(nodes.entered) : nothing(-1, Int16Array); // 0 for training nodes, -1 for never
  run.likelyClasses = nodes ? unpack(nodes.top) : null;
  run.likelyShares = nodes ? unpack(nodes.share) : null;
  run.gains = nodes ? unpack(nodes.gain) : nothing(0, Float32Array);
  run.listedClasses = nodes ? nodes.top.shape[2] : 0; // of each node, likeliest first
  run.largestGain = run.gains.reduce((most, gain) => gain > most ? gain : most, 1e-9);
  run.pseudoLabels = (nodes?.pseudo_labels ?? []).map(readPseudoLabels);
  run.hasGain = run.gains.some((gain) => gain > NO_GAIN);
  run.hasTruth = run.truth.some((label) => label >= 0);
  run.hasPseudoLabels = run.stages.some((stage) => stage.pseudoLabelled > 0);
}

function readStage(stage) {
  return {
    number: stage.stage,
    name: stage.stage === 0 ? 'teacher' : `stage ${stage.stage}`,
    pseudoLabelled: stage.pseudo_labelled,
    pseudoLabelAccuracy: stage.precision,
    validationAccuracy: stage.val_accuracy,
    testAccuracy: stage.test_accuracy,
    epochs: stage.epochs,
    seconds: stage.seconds,
    isResult: stage.result,
    isAccepted: stage.accepted,
    note: stage.note,
    classShares: byGroup(stage.shift.shares),
    confidenceShares: byGroup(stage.shift.confidence),
    classDistance: byPair(stage.shift.class_distance),
    confidenceDistance: byPair(stage.shift.confidence_distance),
    transition: stage.transition,
    pseudoLabelConfusion: stage.pseudo,
    confusion: stage.confusion,
    calibration: stage.calibration,
    trainings: stage.trainings,
  };
}

function byGroup({ labelled, pseudo_labelled: pseudoLabelled, all, truth }) {
  return { labelled, pseudoLabelled, all, truth };
}

function byPair(distances) {
  return {
    pseudoLabelledAll: distances['pseudo_labelled-all'],
    pseudoLabelledLabelled: distances['pseudo_labelled-labelled'],
    labelledAll: distances['labelled-all'],
    predictedTrue: distances['all-truth'],
  };
}

// The pseudo-label of each node (-1 for none) and its weight (NaN for none)
function readPseudoLabels(packed) {
  const nodes = unpack(packed.node), packedLabels = unpack(packed.label), packedWeights = unpack(packed.weight);
  const labels = nothing(-1, Int16Array), weights = nothing(NaN, Float32Array);
  nodes.forEach((node, place) => {
    labels[node] = packedLabels[place];
    weights[node] = packedWeights[place];
  });
  return { labels, weights };
}

// Single nodes; `stage` is a place in shownStages

const firstEntry = (stage, node) => (stage * run.nodeCount + node) * run.listedClasses;
export const predicted = (stage, node) => run.hasModel ? run.likelyClasses[firstEntry(stage, node)] : -1;
export const confidence = (stage, node) =>
  run.hasModel ? run.likelyShares[firstEntry(stage, node)] / SHARE_OF_ONE : NaN;
export const informationGain = (stage, node) => run.gains[stage * run.nodeCount + node];
export const gainsOfStage = (stage) => run.gains.subarray(stage * run.nodeCount, (stage + 1) * run.nodeCount);
export const neighboursOf = (node) =>
  run.neighbourList.subarray(run.neighbourStart[node], run.neighbourStart[node + 1]);
export const className = (index) => index < 0 ? 'not known' : run.classNames[index];
export const isWrong = (stage, node) => run.truth[node] >= 0 && run.truth[node] !== predicted(stage, node);

// [[class, probability], ...], likeliest first
export function classProbabilities(stage, node, count = run.listedClasses) {
  const first = firstEntry(stage, node);
  return Array.from(
    { length: Math.min(count, run.listedClasses) },
    (_, rank) => [run.likelyClasses[first + rank], run.likelyShares[first + rank] / SHARE_OF_ONE],
  );
}

// The probability of one class; 0 where it is not among the likeliest ones.
export function probabilityOf(stage, node, label) {
  const first = firstEntry(stage, node);
  for (let rank = 0; rank < run.listedClasses; rank++) {
    if (run.likelyClasses[first + rank] === label) return run.likelyShares[first + rank] / SHARE_OF_ONE;
  }
  return 0;
}

// The name of the label that a person gave the node; null where there is none.
export const labelName = (node) =>
  run.labelled.get(node) ?? (run.given[node] >= 0 ? run.classNames[run.given[node]] : null);
