// Tries to load an image, to fetch, to open a socket and to run a new script; the outcome of each.
(async () => {
  const image = new Promise((resolve) => {
    const element = new Image();
    element.onload = () => resolve('loaded');
    element.onerror = () => resolve('refused');
    element.src = 'https://example.org/a.png';
  });
  const fetched = fetch('https://example.org/').then(() => 'loaded', () => 'refused');
  const socket = new Promise((resolve) => {
    try {
      const connection = new WebSocket('wss://example.org/');
      connection.onopen = () => resolve('loaded');
      connection.onerror = () => resolve('refused');
    } catch {
      resolve('refused');
    }
  });
  const script = document.createElement('script');
  script.textContent = 'globalThis.ran = true';
  document.body.append(script);
  return [await image, await fetched, await socket, String(globalThis.ran)];
})();
