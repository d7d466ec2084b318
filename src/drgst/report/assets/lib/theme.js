// Light or dark: the reader's choice, or else that of the system.
import { byId } from './elements.js';

const STORAGE_KEY = 'drgst-theme';
const systemDark = matchMedia('(prefers-color-scheme: dark)');
const resolvedColours = new Map();
let currentTheme = 'light';

// A page in the frame of a notebook may not use storage; the choice then lasts as long as the page.
function storedTheme() {
  try {
    return localStorage.getItem(STORAGE_KEY);
  } catch {
    return null;
  }
}

function storeTheme(name) {
  try {
    localStorage.setItem(STORAGE_KEY, name);
  } catch {
    return;
  }
}

export const theme = () => currentTheme;

function applyTheme(name) {
  currentTheme = name;
  resolvedColours.clear();
  document.documentElement.dataset.theme = name;
  byId('theme').textContent = name === 'dark' ? '☀ Light' : '☾ Dark';
}

// Applies the theme now; redraw() is called after every later change.
export function startTheme(redraw) {
  const systemTheme = () => systemDark.matches ? 'dark' : 'light';
  applyTheme(storedTheme() || systemTheme());
  systemDark.addEventListener('change', () => {
    if (storedTheme()) return;
    applyTheme(systemTheme());
    redraw();
  });
  byId('theme').addEventListener('click', () => {
    applyTheme(currentTheme === 'dark' ? 'light' : 'dark');
    storeTheme(currentTheme);
    redraw();
  });
}

// The colour of a CSS variable as a canvas understands it: the variables are light-dark() pairs.
export function cssColour(variable) {
  if (!resolvedColours.has(variable)) {
    const { style } = document.body; // an outline that is not drawn resolves the variable
    style.outlineColor = `var(${variable})`;
    resolvedColours.set(variable, getComputedStyle(document.body).outlineColor);
    style.outlineColor = '';
  }
  return resolvedColours.get(variable);
}
