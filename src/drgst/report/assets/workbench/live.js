// The server, where there is one: requests with the token of the address, and the events of the session.
import { run } from './data.js';

const address = new URLSearchParams(location.search);
const token = address.get('token') ?? '';
export const runName = address.get('run') ?? '';
export const otherName = address.get('with') ?? ''; // the run to compare with

/** @type {any} labels, queue and curve as the server last sent them */
export const work = {
  classes: [],
  labelled: [],
  queue: [],
  curve: [],
  note: '',
  last: null,
  fitted: true,
  others: null,
};

const path = (name) => `/api/${name}?run=${encodeURIComponent(runName)}`;

export const linkTo = (name, other = '') =>
  `/?token=${encodeURIComponent(token)}&run=${encodeURIComponent(name)}` +
  (other ? `&with=${encodeURIComponent(other)}#run` : '');

// The answer of the server; an error that it names is thrown.
export async function ask(name, body = null) {
  const options = { headers: { 'X-Drgst-Token': token }, method: body ? 'POST' : 'GET' };
  const answer = await fetch(path(name), body ? { ...options, body: JSON.stringify(body) } : options);
  const content = await answer.json().catch(() => ({ error: `the server answered ${answer.status}` }));
  if (!answer.ok || content?.error) throw new Error(content?.error ?? `the server answered ${answer.status}`);
  return content;
}

// An answer that a later one has overtaken would take the last label back on the page.
export function keepState(state) {
  if (state.version < (work.version ?? 0)) return;
  Object.assign(work, state);
  run.labelled = new Map(state.labelled.map(([place, label]) => [place, state.classes[label]]));
}

// Calls handlers[event](content) as events arrive.
export function listen(handlers) {
  const stream = new EventSource(`${path('events')}&token=${encodeURIComponent(token)}`);
  for (const [name, call] of Object.entries(handlers)) {
    stream.addEventListener(name, (event) => {
      if (event.data) call(JSON.parse(event.data));
    });
  }
  stream.onerror = () => handlers.lost();
  stream.onopen = () => handlers.found();
}
