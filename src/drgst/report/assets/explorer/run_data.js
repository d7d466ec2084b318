// The run as Python wrote it: numbers as JSON, arrays as base64. Only this module knows the keys of the JSON.
import { byId } from '../lib/elements.js';
import { isKnown } from '../lib/format.js';

const json = JSON.parse(byId('data').textContent);
const ARRAY_TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i2: Int16Array, f4: Float32Array };
const SHARE_OF_ONE = 65535; // how a share of 1 is stored in 16 bits

function unpack(packed) {
  const text = atob(packed.data), bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return new ARRAY_TYPES[packed.kind](bytes.buffer);
}

// The run
export const classNames = json.classes;
export const classCount = json.classes.length;
export const roleNames = json.roles;
export const threshold = json.threshold;
export const evaluatedOn = json.evaluated_on; // 'test' or 'validation', '' where neither has known labels
export const notes = json.notes;
export const facts = json.facts;
export const suggestions = json.suggested; // {note, rows: [{node, predicted, confidence, reason, …}]}

// The stages
export const stages = json.stages.map((stage) => ({
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
}));
export const shownStages = json.shown.map((place) => stages[place]); // those with the data of single nodes

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

// The nodes; `stage` below is a place in shownStages
export const nodeCount = json.nodes.count;
export const totalNodes = json.nodes.total;
export const nodeIds = json.nodes.ids;
export const trueClass = unpack(json.nodes.truth); // -1 where it is not known
export const role = unpack(json.nodes.role); // a place in roleNames
export const enteredStage = unpack(json.nodes.entered); // 0 for training nodes, -1 for never
export const degree = unpack(json.nodes.degree);
export const TRAINING = json.roles.indexOf('training');
export const mapPositions = {
  x: Float32Array.from(unpack(json.nodes.x), (share) => share / SHARE_OF_ONE),
  y: Float32Array.from(unpack(json.nodes.y), (share) => 1 - share / SHARE_OF_ONE),
};
const neighbourStart = unpack(json.nodes.indptr);
const neighbourList = unpack(json.nodes.neighbours);
export const neighboursOf = (node) => neighbourList.subarray(neighbourStart[node], neighbourStart[node + 1]);

const likelyClasses = unpack(json.nodes.top);
const likelyShares = unpack(json.nodes.share);
const gains = unpack(json.nodes.gain);
export const listedClasses = json.nodes.top.shape[2]; // of each node, likeliest first
const firstEntry = (stage, node) => (stage * nodeCount + node) * listedClasses;
export const predicted = (stage, node) => likelyClasses[firstEntry(stage, node)];
export const confidence = (stage, node) => likelyShares[firstEntry(stage, node)] / SHARE_OF_ONE;
export const informationGain = (stage, node) => gains[stage * nodeCount + node];
export const gainsOfStage = (stage) => gains.subarray(stage * nodeCount, (stage + 1) * nodeCount);
export const largestGain = gains.reduce((most, gain) => gain > most ? gain : most, 1e-9);

// [[class, probability], ...], likeliest first
export function classProbabilities(stage, node, count = listedClasses) {
  const first = firstEntry(stage, node);
  return Array.from(
    { length: Math.min(count, listedClasses) },
    (_, rank) => [likelyClasses[first + rank], likelyShares[first + rank] / SHARE_OF_ONE],
  );
}

// Of each shown stage: the pseudo-label of each node (-1 for none) and its weight (NaN for none)
export const pseudoLabels = json.nodes.pseudo_labels.map((packed) => {
  const nodes = unpack(packed.node), packedLabels = unpack(packed.label), packedWeights = unpack(packed.weight);
  const labels = new Int16Array(nodeCount).fill(-1), weights = new Float32Array(nodeCount).fill(NaN);
  nodes.forEach((node, place) => {
    labels[node] = packedLabels[place];
    weights[node] = packedWeights[place];
  });
  return { labels, weights };
});
export const hasGain = gains.some((gain) => gain > 0);
export const hasTruth = trueClass.some((label) => label >= 0);
export const hasPseudoLabels = stages.some((stage) => stage.pseudoLabelled > 0);
export const hasThreshold = isKnown(threshold);
export const className = (index) => index < 0 ? 'not known' : classNames[index];
export const isWrong = (stage, node) => trueClass[node] >= 0 && trueClass[node] !== predicted(stage, node);
// place -> {label, probability, rows: [{kind, name, detail, pull, label, probability}]}
const reasons = json.reasons ?? {};
export const reasonsOf = (node) => reasons[node] ?? null;
const suggestedNodes = new Set(suggestions.rows.map((row) => row.node));
export const isSuggested = (node) => suggestedNodes.has(node);
