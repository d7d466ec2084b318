// The page: five views of one run, of a file or of a server.
import { byId, el } from '../lib/elements.js';
import { counted } from '../lib/format.js';
import { startTheme } from '../lib/theme.js';
import { loadModel, loadPage, loadPositions, run } from './data.js';
import { drawDecide, startDecide } from './decide_view.js';
import { startFilter } from './filter.js';
import { drawLabel, labelKey, startLabel } from './label_view.js';
import { ask, keepState, listen, runName, work } from './live.js';
import { drawMap, startMap } from './map_view.js';
import { drawReview, startReview } from './review_view.js';
import { runList } from './run_list.js';
import { drawRun, startRun } from './run_view.js';
import { startSearch } from './search.js';
import { change, state, VIEWS, watch } from './state.js';

const embedded = JSON.parse(byId('data').textContent);
const inFrame = location.protocol === 'about:'; // of a notebook: a link within the page would leave it

// After what is in view has been painted.
const afterPaint = (call) => requestAnimationFrame(() => setTimeout(call));

function drawAll() {
  drawMap();
  drawLabel();
  drawDecide();
  drawReview();
  drawRun();
}

function drawView() {
  for (const view of VIEWS) {
    byId(`view-${view}`).hidden = view !== state.view;
    const link = document.querySelector(`nav a[data-view="${view}"]`);
    if (view === state.view) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  globalThis.scrollTo(0, 0);
  if (!inFrame && location.hash !== `#${state.view}`) history.replaceState(null, '', `#${state.view}`);
}

const viewOfAddress = () => VIEWS.find((view) => `#${view}` === location.hash && (view !== 'label' || run.live));

function startKeys() {
  document.addEventListener('keydown', (event) => {
    const typing = event.target instanceof Element && event.target.closest('input:not([type=range]), select, textarea');
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '/') byId('find').focus();
    else if (state.view === 'label' && (event.key !== ' ' || !isButton(event.target))) {
      if (!labelKey(event.key)) return;
    } else return;
    event.preventDefault();
  });
}

// Space presses a button that has the focus, unless that was the last class given.
const isButton = (target) => target instanceof Element && target.closest('button, summary, a');

function startNavigation() {
  document.querySelector('nav a[data-view="label"]').toggleAttribute('hidden', !run.live);
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element && event.target.closest('a[href^="#"]');
    if (!link) return;
    event.preventDefault();
    const view = link.getAttribute('data-view');
    if (view) change({ view });
    else byId('main').focus();
  });
  globalThis.addEventListener('hashchange', () => change({ view: viewOfAddress() ?? state.view }));
  watch(['view'], drawView);
}

function showRun(page) {
  loadPage(page);
  byId('title').textContent = run.title;
  document.title = run.title;
  state.stage = Math.max(0, run.shownStages.findIndex((stage) => stage.isResult));
  startTheme(drawAll);
  startNavigation();
  startFilter();
  startSearch();
  startMap();
  startDecide();
  startReview();
  startRun();
  startLabel();
  startKeys();
  change({ tool: 'move', view: viewOfAddress() ?? (run.live && !run.hasModel ? 'label' : 'map') });
  afterPaint(() => {
    drawAll();
    document.documentElement.dataset.ready = 'yes';
  });
}

function setStatus(text, kind = '') {
  const status = byId('status');
  status.hidden = false;
  status.className = `status ${kind}`;
  status.textContent = text;
}

function drawStatus() {
  if (work.error) setStatus(work.error, 'bad');
  else if (work.fitted) {
    const state = run.hasModel ? 'model up to date' : 'no model yet: it needs labels of two classes';
    setStatus(`${counted(work.labelled.length, 'label')} of yours, ${state}`);
  } else if (work.progress) setStatus(`fitting: ${work.progress}`, 'busy');
  else if (work.previewed) setStatus('preview: the whole model is fitted when you pause', 'busy');
  else setStatus('fitting …', 'busy');
}

async function takeModel() {
  const answer = await ask('model');
  loadModel(answer);
  run.reasons = {}; // of the model before
  work.progress = '';
  keepState(answer.state);
  state.stage = 0;
  drawStatus();
  drawAll();
  document.documentElement.dataset.fit = String(run.fit);
}

function takeState(answer) {
  work.progress = '';
  keepState(answer);
  change({ work: true });
}

// The other runs here, with which this one can be compared.
const findOthers = () =>
  ask('runs').then((runs) => {
    work.others = runs.map(({ name }) => name).filter((name) => name !== runName);
    drawRun();
  }).catch((error) => setStatus(error.message, 'bad'));

async function startLive() {
  setStatus('opening …', 'busy');
  const handlers = {
    progress: ({ text }) => {
      work.progress = text;
      if (!run.nodeCount) setStatus(`${text} …`, 'busy');
      else if (!work.fitted) drawStatus();
    },
    fitted: () => run.nodeCount && takeModel().catch((error) => setStatus(error.message, 'bad')),
    chosen: () => run.nodeCount && ask('state').then(takeState).catch((error) => setStatus(error.message, 'bad')),
    placed: (places) => {
      if (!run.nodeCount) return;
      loadPositions(places);
      drawMap();
    },
    forecast: ({ sentences }) => {
      work.forecast = sentences;
      change({ work: true });
    },
    saved: ({ folder }) => {
      work.saved = folder;
      change({ work: true });
      findOthers();
    },
    error: ({ message }) => {
      work.error = message;
      drawStatus();
    },
    lost: () => setStatus('the server does not answer', 'bad'),
    found: () => run.nodeCount && drawStatus(),
  };
  listen(handlers);
  const page = await ask('page');
  showRun(page);
  keepState(page.state);
  watch(['work'], drawStatus);
  drawStatus();
  change({ work: true });
  findOthers();
}

if (!embedded.live) showRun(embedded);
else if (embedded.runs.length && !runName) {
  startTheme(() => {});
  byId('main').replaceChildren(el('section', { class: 'view' }, runList(embedded.runs)));
  byId('views').hidden = byId('search').hidden = true;
  document.documentElement.dataset.ready = 'yes';
} else startLive().catch((error) => setStatus(error.message, 'bad'));
