// One node: what is believed of it, what became of it stage by stage, and who its neighbours are.
function nodeWords(i) { // what hovering shows
  const s = state.stage, base = (s * N + i) * K;
  const lines = Array.from({length: Math.min(3, K)}, (_, k) => el('div', null, `${percent(share[base + k] / WHOLE)} ${className(top_[base + k])}`));
  const label = truth[i] < 0 ? 'label not known' : `label ${className(truth[i])}${wrong(s, i) ? ', predicted wrongly' : ''}`;
  return [el('strong', null, IDS[i]), el('div', null, `${D.roles[role[i]]} node, ${label}`), ...lines, HAS_GAIN ? el('div', null, `gain ${figure(gain(s, i))}`) : null];
}

function shareBar(part) {
  return svg('svg', {viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true'}, svg('rect', {width: 100, height: 10, fill: 'var(--grid)'}), svg('rect', {width: 100 * part, height: 10, fill: 'var(--accent)'}));
}
function beliefLines(i) {
  const base = (state.stage * N + i) * K;
  const lines = Array.from({length: K}, (_, k) => [className(top_[base + k]), share[base + k] / WHOLE]);
  const rest = 1 - lines.reduce((sum, line) => sum + line[1], 0);
  if (K < C) lines.push([`${C - K} others`, Math.max(0, rest)]);
  return lines.map(([name, part]) => el('div', {class: 'share'}, el('span', {class: 'name'}, name), shareBar(part), el('span', {class: 'figure'}, percent(part))));
}

function storyTable(i) {
  const columns = [['stage', ''], ['says', 'name'], ['sure', 'number'], ...(HAS_GAIN ? [['gain', 'number']] : []), ['weight', 'name']];
  const row = (stage, s) => ({now: s === state.stage, cells: [
    el('button', {type: 'button', class: 'link', onclick: () => change({stage: s})}, stageName(stage)), marked(predicted(s, i), truth[i]), percent(confidence(s, i), 0),
    ...(HAS_GAIN ? [figure(gain(s, i), 2)] : []), trainedOn(s, i)]});
  return table(columns, STAGES.map(row), 'Story through the stages');
}
function trainedOn(s, i) {
  if (role[i] === TRAINING) return 'true label';
  const label = trustedLabel[s][i];
  if (label < 0) return '–';
  const as = label === predicted(s, i) ? '' : ` as ${className(label)}`, off = truth[i] >= 0 && truth[i] !== label ? ', wrongly' : '';
  return `${figure(trustedWeight[s][i], 2)}${as}${off}`;
}

const SHOWN_NEIGHBOURS = 60;
function neighbourTable(i) {
  const list = Array.from(neighbour.subarray(indptr[i], indptr[i + 1])), s = state.stage;
  if (!list.length) return el('p', {class: 'empty'}, degree[i] ? `None of its ${whole(degree[i])} neighbours is on the map.` : 'It has no neighbours.');
  const alike = list.filter(j => predicted(s, j) === predicted(s, i)).length;
  const held = list.length < degree[i] ? `${whole(list.length)} of its ${whole(degree[i])} neighbours are on the map; ` : '';
  const words = `${held ? held + 'p' : 'P'}redicted alike: ${whole(alike)} of ${whole(list.length)}.`;
  const row = j => [nodeLink(j), marked(predicted(s, j), truth[j]), percent(confidence(s, j), 0), role[j] === TRAINING ? 'labelled' : ''];
  const more = list.length > SHOWN_NEIGHBOURS ? el('p', {class: 'hint'}, `The first ${SHOWN_NEIGHBOURS} are listed.`) : null;
  return [el('p', null, words), el('div', {class: 'scroll'}, table([['node', 'name'], ['predicted', 'name'], ['sure', 'number'], ['', '']], list.slice(0, SHOWN_NEIGHBOURS).map(row), 'Neighbours')), more];
}

function drawStory() {
  const host = $('story'), i = state.node;
  if (i < 0) {
    host.replaceChildren(el('h3', null, 'One node'), el('p', {class: 'empty'}, 'Click a point, find a node by its id, or start with one that is worth a label:'),
      el('div', null, D.suggested.rows.slice(0, 6).map(row => el('p', null, nodeLink(row.node), ` ${className(row.predicted)}? ${percent(row.confidence, 0)} sure`))));
    return;
  }
  const tags = [D.roles[role[i]], truth[i] < 0 ? 'label not known' : `label ${className(truth[i])}`, `${whole(degree[i])} ${degree[i] === 1 ? 'neighbour' : 'neighbours'}`, entered[i] > 0 ? `trusted from stage ${entered[i]}` : null, SUGGESTED.has(i) ? 'worth a label' : null];
  host.replaceChildren(el('h3', {id: 'story-name'}, IDS[i]), el('div', null, tags.filter(Boolean).map(words => el('span', {class: 'tag'}, words))),
    el('h4', null, `What ${state.stage ? stageName(now()) : 'the teacher'} believes`), ...beliefLines(i),
    el('h4', null, 'Story through the stages'), el('div', {class: 'scroll', id: 'story-stages'}, storyTable(i)),
    el('h4', null, 'Neighbours'), ...[neighbourTable(i)].flat().filter(Boolean));
  host.scrollTop = 0;
}
