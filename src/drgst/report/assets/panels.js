// Legend, selection and search.
function select(mask, words) {
  const any = mask && mask.some(v => v);
  change({selected: any ? mask : null, chosen: any ? words : ''});
  if (mask && !any) say('no node is selected');
}
const maskOf = test => Uint8Array.from({length: N}, (_, i) => test(i) ? 1 : 0);

const CHOICES = () => [
  ['wrong', 'wrong ones', i => wrong(state.stage, i), HAS_TRUTH],
  ['trusted', 'trusted in this stage', i => trustedLabel[state.stage][i] >= 0, HAS_TRUSTED],
  ['trusted-wrong', 'trusted with a wrong label', i => trustedLabel[state.stage][i] >= 0 && truth[i] >= 0 && trustedLabel[state.stage][i] !== truth[i], HAS_TRUTH && HAS_TRUSTED],
  ['changed', 'changed since the teacher', i => predicted(state.stage, i) !== predicted(0, i), STAGES.length > 1],
  ['suggested', 'to label next', i => SUGGESTED.has(i), SUGGESTED.size > 0],
  ...D.roles.map((name, k) => [`role-${k}`, `${name} nodes`, i => role[i] === k, k > 0 && role.includes(k)]),
  ...D.classes.map((name, k) => [`class-${k}`, `predicted ${name}`, i => predicted(state.stage, i) === k, true]),
].filter(choice => choice[3]);
const SUGGESTED = new Set(D.suggested.rows.map(row => row.node));

function drawLegend() {
  const host = $('legend');
  if (way.items) host.replaceChildren(...way.items.map(legendItem).filter(Boolean));
  else host.replaceChildren(legendRamp());
}
function legendMark(item) {
  const shape = item.hollow ? {fill: 'none', stroke: item.colour, 'stroke-width': .25} : {fill: item.colour};
  return svg('svg', {width: 15, height: 15, viewBox: '-1.8 -1.8 3.6 3.6', 'aria-hidden': 'true'}, svg('path', {d: item.shape, ...shape}));
}
function legendItem(item, k) {
  let count = 0;
  for (let i = 0; i < N; i++) if (way.of(i) === k) count++;
  if (!count) return null;
  const of = way.of, pressed = state.chosen === item.name;
  const pick = () => pressed ? select(null) : select(maskOf(i => of(i) === k), item.name);
  return el('button', {type: 'button', 'aria-pressed': String(pressed), onclick: pick}, legendMark(item), el('span', null, item.name), el('span', {class: 'count'}, whole(count)));
}
function legendRamp() {
  const steps = Array.from({length: STEPS}, (_, k) => svg('rect', {x: k * 5, y: 0, width: 5.5, height: 12, fill: ramp(k / (STEPS - 1))}));
  const empty = maskOf(i => Number.isNaN(position(way, way.of(i)))).some(v => v);
  return el('div', {class: 'ramp'}, el('span', null, way.format(way.low)), svg('svg', {width: 160, height: 12, 'aria-hidden': 'true'}, steps), el('span', null, way.format(way.high)),
    el('span', {class: 'count'}, `${way.log ? 'log scale; ' : ''}larger points are higher${empty ? '; hollow points have none' : ''}`));
}

const ROWS = 200; // of the table; the CSV has all
function selectedNodes() {
  const nodes = [];
  if (state.selected) for (let i = 0; i < N; i++) if (state.selected[i]) nodes.push(i);
  return nodes;
}
function drawSelection() {
  const nodes = selectedNodes(), host = $('selection');
  if (!nodes.length) {
    host.replaceChildren(el('h3', null, 'Selection'), el('p', {class: 'empty'}, 'Nothing is selected. Drag with box or lasso on the map or on the diagram, press an entry of the legend, or choose under Select.'));
    return;
  }
  const right = nodes.filter(i => truth[i] >= 0), hit = right.filter(i => !wrong(state.stage, i)).length;
  const words = `${whole(nodes.length)} ${nodes.length === 1 ? 'node' : 'nodes'} ${state.chosen}` + (right.length ? `; ${percent(hit / right.length)} of those of known truth are right` : '');
  const columns = [['node', 'name'], ['predicted', 'name'], ['confidence', 'number'], ...(HAS_GAIN ? [['gain', 'number']] : []), ...(HAS_TRUTH ? [['truth', 'name']] : []), ['entered', '']];
  const row = i => [nodeLink(i), marked(predicted(state.stage, i), truth[i]), percent(confidence(state.stage, i)), ...(HAS_GAIN ? [figure(gain(state.stage, i))] : []),
    ...(HAS_TRUTH ? [className(truth[i])] : []), enteredWords(i)];
  const more = nodes.length > ROWS ? el('p', {class: 'hint'}, `The first ${ROWS} are shown; the CSV has all ${whole(nodes.length)}.`) : null;
  host.replaceChildren(el('h3', null, 'Selection'), el('p', null, words),
    el('p', null, el('button', {type: 'button', id: 'csv', onclick: () => download('selection.csv', csvRows(nodes))}, 'Download CSV'), ' ', el('button', {type: 'button', onclick: () => select(null)}, 'Clear')),
    el('div', {class: 'scroll'}, table(columns, nodes.slice(0, ROWS).map(row), 'Selected nodes')), ...(more ? [more] : []));
}
const enteredWords = i => entered[i] < 0 ? 'never' : entered[i] === 0 ? 'labelled' : `stage ${entered[i]}`;
function csvRows(nodes) {
  const s = state.stage, number = value => known(value) ? value : '';
  const head = ['id', 'part', 'truth', 'stage', 'predicted', 'confidence', 'gain', 'trusted_as', 'weight', 'entered'];
  const row = i => [IDS[i], D.roles[role[i]], truth[i] < 0 ? '' : className(truth[i]), STAGES[s].stage, className(predicted(s, i)), confidence(s, i).toFixed(5), number(gain(s, i)),
    trustedLabel[s][i] < 0 ? '' : className(trustedLabel[s][i]), number(trustedWeight[s][i]), entered[i]];
  return [head, ...nodes.map(row)];
}
const nodeLink = i => el('button', {type: 'button', class: 'link', onclick: () => change({node: i})}, IDS[i]);

const MATCHES = 12;
function matches(words) {
  const wanted = words.trim().toLowerCase();
  if (!wanted) return [];
  const ranked = [[], [], []];
  for (let i = 0; i < N; i++) {
    const id = IDS[i].toLowerCase(), at = id.indexOf(wanted);
    if (at >= 0) ranked[id === wanted ? 0 : at === 0 ? 1 : 2].push(i);
    if (ranked[0].length + ranked[1].length >= MATCHES * 4) break;
  }
  return ranked.flat().slice(0, MATCHES);
}
function search(words) {
  const exact = IDS.indexOf(words.trim()), found = matches(words), list = $('found');
  if (exact >= 0 && found[0] !== exact) found.unshift(exact);
  const none = D.nodes.total > N ? 'no node of the sample is called that' : 'no node is called that';
  const go = i => () => { list.hidden = true; change({node: i}); };
  list.replaceChildren(...(found.length ? found.map(i => el('li', null, el('button', {type: 'button', onclick: go(i)}, IDS[i]))) : [el('li', {class: 'empty'}, none)]));
  list.hidden = !words.trim();
  return found;
}
