// The run, as Python wrote it: figures as JSON, arrays as base 64.
const D = JSON.parse(document.getElementById('data').textContent);
const KINDS = {u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i2: Int16Array, f4: Float32Array};

function unpack(packed) {
  const text = atob(packed.data), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new KINDS[packed.kind](bytes.buffer);
}

const N = D.nodes.count, C = D.classes.length, WHOLE = 65535;
const IDS = D.nodes.ids, STAGES = D.shown.map(place => D.stages[place]);
const truth = unpack(D.nodes.truth), role = unpack(D.nodes.role), entered = unpack(D.nodes.entered);
const degree = unpack(D.nodes.degree), indptr = unpack(D.nodes.indptr), neighbour = unpack(D.nodes.neighbours);
const top_ = unpack(D.nodes.top), share = unpack(D.nodes.share), gains = unpack(D.nodes.gain);
const K = D.nodes.top.shape[2];
const TRAINING = D.roles.indexOf('training');
const mapX = Float32Array.from(unpack(D.nodes.x), v => v / WHOLE);
const mapY = Float32Array.from(unpack(D.nodes.y), v => 1 - v / WHOLE);
const trustedLabel = [], trustedWeight = [];
for (const packed of D.nodes.trusted) {
  const nodes = unpack(packed.node), labels = unpack(packed.label), weights = unpack(packed.weight);
  const label = new Int16Array(N).fill(-1), weight = new Float32Array(N).fill(NaN);
  nodes.forEach((node, at) => { label[node] = labels[at]; weight[node] = weights[at]; });
  trustedLabel.push(label);
  trustedWeight.push(weight);
}

const predicted = (s, i) => top_[(s * N + i) * K];
const confidence = (s, i) => share[(s * N + i) * K] / WHOLE;
const gain = (s, i) => gains[s * N + i];
const HAS_GAIN = gains.some(v => v > 0);
const HAS_TRUTH = truth.some(v => v >= 0);
const HAS_TRUSTED = STAGES.some(stage => stage.trusted > 0);
const wrong = (s, i) => truth[i] >= 0 && truth[i] !== predicted(s, i);

// What a person has chosen; everything that is drawn follows from it.
const state = {stage: Math.max(0, STAGES.findIndex(stage => stage.result)), node: -1, selected: null, chosen: '', tool: 'move', log: false};
const watchers = [];
const watch = (keys, call) => watchers.push([keys.split(' '), call]);
function change(news) {
  Object.assign(state, news);
  const keys = Object.keys(news);
  for (const [wanted, call] of watchers) if (wanted.some(key => keys.includes(key))) call();
}
