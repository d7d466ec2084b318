// Four ways out of the page, and what became of each.
async () => {
    const image = new Promise(done => {
        const made = new Image();
        made.onload = () => done('loaded');
        made.onerror = () => done('refused');
        made.src = 'https://example.org/a.png';
    });
    const fetched = fetch('https://example.org/').then(() => 'loaded', () => 'refused');
    const socket = new Promise(done => {
        try {
            const made = new WebSocket('wss://example.org/');
            made.onopen = () => done('loaded');
            made.onerror = () => done('refused');
        } catch {
            done('refused');
        }
    });
    const script = document.createElement('script');
    script.textContent = 'window.ran = true';
    document.body.append(script);
    return [await image, await fetched, await socket, String(window.ran)];
}
