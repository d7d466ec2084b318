// One node at a time: what is known of it, what the model thinks, and a key for each class.
import { announce, breakable, button, byId, el, hint } from '../lib/elements.js';
import { percent } from '../lib/format.js';
import { probabilityOf, run } from './data.js';
import { ask, keepState, work } from './live.js';
import { columnTable, findReasons, neighbourList, nodeTags, reasonTable } from './node_card.js';
import { shareBar } from './node_text.js';
import { progressPanel } from './progress_panel.js';
import { change, state, watch } from './state.js';

const NEIGHBOURS = 12;
let asked = -1; // the node that is shown; a refit does not change it
let reason = ''; // why it is asked about
let message = '';
let giving = false;

const isOpen = (node) => node >= 0 && !run.labelled.has(node) && !(run.given[node] >= 0);

// The next node: of the queue, or the least certain one among those that are shown alone.
function nextNode() {
  if (!state.filter) return work.queue.find(({ node }) => node !== asked)?.node ?? -1;
  const queued = work.queue.find(({ node }) => state.filter[node] && node !== asked);
  if (queued) return queued.node;
  let best = -1, least = Infinity;
  for (let node = 0; node < run.nodeCount; node++) {
    if (!state.filter[node] || !isOpen(node) || node === asked || skipped.has(node)) continue;
    const certainty = run.hasModel ? Math.max(...run.classNames.map((_, index) => probabilityOf(0, node, index))) : 0;
    if (certainty < least) [best, least] = [node, certainty];
  }
  return best;
}
const skipped = new Set();

function reasonText() {
  if (run.labelled.has(asked)) return `You labelled it ${run.labelled.get(asked)}. Another class changes that.`;
  return reason ? `Suggested: ${reason}.` : 'Chosen by you: it does not count as part of a sample.';
}

async function act(request) {
  try {
    keepState(await request());
    message = '';
    return true;
  } catch (error) {
    message = error.message;
    return false;
  } finally {
    change({ work: true });
  }
}

async function give(name) {
  const node = asked;
  if (node < 0 || giving) return;
  giving = true; // until the next node is shown: a key that is pressed twice labels one node
  const given = await act(() => ask('label', { node, label: name }));
  giving = false;
  if (!given) return;
  announce(`${run.nodeIds[node]} is ${name}`);
  show(nextNode());
}

async function skip() {
  const node = asked;
  if (node < 0) return;
  skipped.add(node);
  if (await act(() => ask('skip', { node }))) show(nextNode());
}

async function undo() {
  const [last] = work.last ?? [];
  if (last === undefined) return;
  if (await act(() => ask('undo', {}))) show(run.nodeIds.indexOf(last));
}

export function show(node) {
  if (node !== asked) reason = work.queue.find((row) => row.node === node)?.reason ?? '';
  asked = node;
  drawLabel();
}

function classButton(name, index) {
  const place = run.classNames.indexOf(name), known = run.hasModel && place >= 0 && asked >= 0;
  const share = known ? probabilityOf(state.stage, asked, place) : null;
  return el(
    'button',
    { type: 'button', class: 'class-button', onclick: () => give(name), disabled: asked < 0 },
    el('kbd', null, index < 9 ? String(index + 1) : ''),
    el('span', { class: 'name' }, breakable(name)),
    known ? shareBar(share) : el('span'),
    el('span', { class: 'figure' }, known ? percent(share, 0) : ''),
  );
}

function newClassForm() {
  const field = el('input', { id: 'new-class', type: 'text', maxlength: 200, placeholder: 'name of a class' });
  const onsubmit = async (event) => {
    event.preventDefault();
    if (field.value.trim()) await act(() => ask('class', { name: field.value }));
  };
  const title = el('label', { class: 'visually-hidden', for: 'new-class' }, 'New class');
  const form = el(
    'form',
    { class: 'new-class', onsubmit },
    title,
    field,
    el('button', { type: 'submit' }, 'Add class'),
  );
  return el('details', { open: work.classes.length < 2 }, el('summary', null, 'Another class'), form);
}

const why = () =>
  findReasons(asked, (text) => {
    message = text;
    drawLabel();
  });

function nodePanel() {
  if (asked < 0) {
    const none = work.fitted ? 'There is no node to ask about.' : 'The next nodes are being chosen …';
    return [el('h2', null, none), state.filter ? hint('Only the nodes of the selection are asked about.') : null];
  }
  return [
    el('h2', { id: 'asked-name' }, breakable(run.nodeIds[asked])),
    el('p', { id: 'asked-reason' }, reasonText()),
    el('div', null, nodeTags(asked)),
    el('div', { id: 'class-buttons', class: 'class-buttons' }, work.classes.map(classButton)),
    el(
      'p',
      { class: 'buttons' },
      button('Skip', skip, { id: 'skip' }),
      button('Undo', undo, { id: 'undo', disabled: !work.last }),
      run.hasModel ? button('Why?', why, { id: 'why' }) : null,
      button('Show on the map', () => change({ view: 'map', node: asked })),
    ),
    hint('Keys: 1 to 9 give a class, space skips, u takes back, w asks why, / searches.'),
    newClassForm(),
    el('p', { id: 'label-message', class: 'bad', role: 'status' }, message),
    reasonTable(asked),
  ];
}

export function drawLabel() {
  if (state.view !== 'label') return;
  if (asked < 0) {
    const next = nextNode();
    if (next >= 0) {
      show(next);
      return;
    }
  }
  const focused = document.activeElement?.id;
  byId('view-label').replaceChildren(
    el('div', { class: 'panel' }, nodePanel()),
    el(
      'div',
      { class: 'panel' },
      asked < 0 ? null : [
        columnTable(asked),
        neighbourList(asked, NEIGHBOURS),
      ].flat().filter(Boolean),
    ),
    el(
      'div',
      { class: 'panel' },
      progressPanel((text) => {
        message = text;
        drawLabel();
      }),
    ),
  );
  if (focused) byId(focused)?.focus();
}

// True where the key was meant for this view.
export function labelKey(key) {
  const name = /^[1-9]$/.test(key) ? work.classes[Number(key) - 1] : undefined;
  if (name !== undefined) give(name);
  else if (key === ' ') skip();
  else if (key === 'u') undo();
  else if (key === 'w') why();
  else return false;
  return true;
}

export function startLabel() {
  watch(['view', 'work', 'filter'], () => {
    if (state.filter && asked >= 0 && !state.filter[asked]) asked = -1;
    drawLabel();
  });
  watch(['asked'], () => show(state.asked));
}
