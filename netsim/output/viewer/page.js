// The page: builds the picture, moves it to an instant, plays, and answers the controls.

const get = (id) => document.getElementById(id);
const scene = JSON.parse(get('scene').textContent);
const motion = new Motion(scene);
const webgl = location.hash !== '#canvas' && Boolean(document.createElement('canvas').getContext('webgl2'));
const canvas = get('picture');
const view = new View(canvas, scene.bounds, scene.planar);
const { size } = view;

function makeRenderer() {
  if (!webgl) return new Painter(canvas);
  const renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true });
  renderer.setClearColor(0x000000, 0);
  return { setSize: (w, h, ratio) => (renderer.setPixelRatio(ratio), renderer.setSize(w, h, false)), render: (s, c) => renderer.render(s, c) };
}

// ------------------------------------------------------------------------------------------- the picture

const world = new THREE.Scene();
const lamp = new THREE.DirectionalLight(0xffffff, 1.9);
lamp.position.set(0.5, 0.8, 1.2);
view.camera.add(lamp, lamp.target);
lamp.target.position.set(0, 0, -1);
world.add(view.camera, new THREE.HemisphereLight(0xffffff, 0xb9c4d0, 1.7));

function added(thing) {
  world.add(thing);
  return thing;
}

const ground = scene.ground ?? (scene.planar ? scene.bounds[0][2] : scene.bounds[0][2] - 0.02 * size);
const floor = scene.grid ? added(grid(scene.bounds, size, scene.planar, ground)) : new THREE.Group();
const bodies = scene.frames.map((frame) => ({ ...frame, object: added(body(frame, webgl)) }));
const links = scene.links.map((link) => ({ ...link, object: added(linkBetween(link, size, webgl)) }));
const curves = scene.curves.map((curve) => new BentCurve(curve, webgl));
curves.forEach((curve) => added(curve.object));
let exaggeration = 1;
const arrows = scene.arrows.map((arrow) => ({ ...arrow, drawn: new ForceArrow(arrow.colour, size, webgl) }));
const traces = scene.traces.map((trace) => ({ ...trace, drawn: new TracePath(motion.rows(trace.points), trace.colour, webgl) }));
const arrowGroup = added(new THREE.Group());
const traceGroup = added(new THREE.Group());
arrows.forEach((arrow) => arrowGroup.add(arrow.drawn.object));
traces.forEach((trace) => traceGroup.add(trace.drawn.object));
if (scene.planar) {
  inFront(traceGroup, 4);
  inFront(arrowGroup, 6);
}
const named = bodies.filter((b) => b.name && !b.name.startsWith('_'));

const a = new THREE.Vector3();
const b = new THREE.Vector3();

function place() {
  for (const item of bodies) {
    motion.vector(item.position, item.object.position);
    motion.quaternion(item.rotation, item.object.quaternion);
  }
  for (const link of links) stretch(link.object, motion.vector(link.start, a), motion.vector(link.end, b));
  for (const curve of curves) curve.place(motion, exaggeration);
  for (const arrow of arrows) {
    arrow.drawn.place(motion.vector(arrow.origin, a), motion.vector(arrow.vector, b), arrow.scale);
    arrow.value.textContent = `${readable(b.length())} ${arrow.unit}`;
  }
  for (const trace of traces) trace.drawn.show(motion.index, motion.vector(trace.points, a));
}

// ------------------------------------------------------------------------------------------- words

const { chapters } = scene;
let [first, last, title] = [motion.first, motion.last, ''];
if (chapters.length) ({ first, last, name: title } = chapters[0]);
const span = last - first; // all chapters are equally long
const longest = Math.max(Math.abs(motion.first), Math.abs(motion.last));
const [unit, factor] = longest >= 0.1 || longest === 0 ? ['s', 1] : longest >= 1e-4 ? ['ms', 1e3] : ['µs', 1e6];
const digits = Math.max(0, 3 - Math.floor(Math.log10(span * factor || 1)));

function clock(time) {
  return (time * factor).toFixed(Math.min(digits, 9));
}

function readable(x) {
  return x === 0 || (Math.abs(x) >= 1e-3 && Math.abs(x) < 1e5) ? String(Number(x.toPrecision(3))) : x.toExponential(2);
}

function element(parent, tag, text = '', kind = '') {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = kind;
  return parent.appendChild(made);
}

function legendRow(parent, colour, text, kind = '') {
  const row = element(parent, 'div', '', 'row');
  element(row, 'i', '', kind).style.background = colour;
  element(row, 'b', text);
  return element(row, 'span');
}

function writeLegend() {
  const legend = get('legend');
  element(legend, 'h1', scene.title);
  element(legend, 'div', '', 'time').id = 'time';
  const list = element(legend, 'div', '', 'list');
  if (named.length <= 12) named.forEach((item) => legendRow(list, item.colour, item.name, 'body'));
  for (const arrow of arrows) arrow.value = legendRow(list, arrow.colour, arrow.name);
  for (const trace of traces) legendRow(list, trace.colour, trace.name).textContent = 'path';
  if (scene.grid) legendRow(list, '#c9d2da', 'grid').textContent = length(floor.userData.step);
  if (scene.message) element(legend, 'div', scene.message, 'message');
}

function length(metres) {
  if (metres >= 1000) return `${readable(metres / 1000)} km`;
  if (metres >= 1) return `${readable(metres)} m`;
  return metres >= 1e-3 ? `${readable(metres * 1e3)} mm` : `${readable(metres * 1e6)} µm`;
}

const labels = named.map((item) => {
  const label = element(get('labels'), 'span', item.name);
  label.style.color = `#${darker(item.colour, 0.6).getHexString()}`;
  return { label, item, at: middle(item), width: label.offsetWidth, height: label.offsetHeight };
});

// The middle of a frame's shapes, in the frame.
function middle(item) {
  const points = item.shapes.flatMap((shape) => (shape.kind === 'line' ? shape.points : [shape.position]));
  const sum = points.reduce((total, p) => total.add(a.set(...p)), new THREE.Vector3());
  return sum.divideScalar(Math.max(1, points.length));
}

function placeLabels() {
  const taken = [];
  for (const { label, item, at, width, height } of labels) {
    const pixels = view.pixels(item.object.localToWorld(a.copy(at)));
    label.hidden = !pixels;
    if (!pixels) continue;
    const place = { x: pixels[0] + 10, y: pixels[1] - 24, width, height };
    const clash = () => taken.find((t) => place.x < t.x + t.width && t.x < place.x + width && place.y < t.y + t.height && t.y < place.y + height);
    for (let other = clash(), tries = 0; other && tries < 20; other = clash(), tries++) place.y = other.y - height - 1;
    taken.push(place);
    label.style.transform = `translate(${place.x}px, ${place.y}px)`;
  }
}

// ------------------------------------------------------------------------------------------- time

let playing = false;
let dirty = true;
let before = 0;

function seek(time) {
  const followed = bodies[Number(get('follow').value)];
  const was = followed ? followed.object.position.clone() : null;
  motion.seek(time);
  place();
  if (followed) view.move(was.subVectors(followed.object.position, was));
  const part = span ? (motion.time - first) / span : 0;
  get('slider').value = part;
  get('time').textContent = title || `t = ${clock(motion.time)} ${unit}`;
  get('clock').textContent = title ? `${Math.round(360 * part)}°` : `${clock(motion.time)} / ${clock(last)} ${unit}`;
  dirty = true;
}

function play(on) {
  playing = on && span > 0;
  if (playing && motion.time >= last) seek(first);
  get('play').classList.toggle('playing', playing);
  get('play').setAttribute('aria-label', playing ? 'pause' : 'play');
}

function advance(seconds) {
  let time = motion.time + seconds * Number(get('speed').value);
  if (time >= last && get('loop').checked) time = first + ((time - first) % span);
  seek(Math.min(time, last));
  if (time >= last) play(false);
}

function tick(now) {
  if (playing) advance(Math.min(0.25, (now - before) / 1000));
  before = now;
  if (dirty) {
    dirty = false;
    view.prepare();
    renderer.render(world, view.camera);
    view.triad(get('triad'));
    placeLabels();
  }
  requestAnimationFrame(tick);
}

// Real time where that takes 1 to 60 s, else what plays the run in 5 to 10 s.
function fillSpeeds() {
  const usual = !span || (span >= 1 && span <= 60) ? 1 : roundUp(span / 10);
  const rates = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10].map((k) => Number((k * usual).toPrecision(2)));
  for (const rate of [...new Set([...rates, 1])].sort((x, y) => x - y)) {
    const option = element(get('speed'), 'option', rate === 1 ? (chapters.length ? '1×' : '1× real time') : rate < 0.01 ? `1/${Math.round(1 / rate)}×` : `${readable(rate)}×`);
    option.value = rate;
    option.selected = rate === Number(usual.toPrecision(2));
  }
}

// ------------------------------------------------------------------------------------------- controls

function resize() {
  const { clientWidth: width, clientHeight: height } = get('stage');
  if (!width || !height) return;
  renderer.setSize(width, height, Math.min(2, devicePixelRatio || 1));
  view.resize(width, height);
  dirty = true;
}

function toggle(id, present, show) {
  get(id).checked = present;
  get(id).parentElement.hidden = !present;
  get(id).addEventListener('change', () => {
    show(get(id).checked);
    dirty = true;
  });
}

function connect() {
  get('play').addEventListener('click', () => play(!playing));
  get('slider').addEventListener('input', () => (play(false), seek(first + span * Number(get('slider').value))));
  get('slider').disabled = !span;
  get('chapters').hidden = !chapters.length;
  for (const chapter of chapters) element(get('chapter'), 'option', chapter.name);
  get('chapter').addEventListener('change', () => {
    ({ first, last, name: title } = chapters[get('chapter').selectedIndex]);
    seek(first);
  });
  get('fit').addEventListener('click', () => view.fit());
  for (const button of document.querySelectorAll('[data-view]')) button.addEventListener('click', () => view.from(button.dataset.view.split(',').map(Number)));
  bodies.forEach((item, k) => {
    if (named.includes(item)) element(get('follow'), 'option', item.name).value = k;
  });
  get('follow').addEventListener('change', () => {
    const followed = bodies[Number(get('follow').value)];
    if (followed) view.move(new THREE.Vector3().subVectors(followed.object.position, view.controls.target));
    else view.fit();
  });
  toggle('show-labels', named.length > 0, (on) => (get('labels').hidden = !on));
  toggle('show-traces', traces.length > 0, (on) => (traceGroup.visible = on));
  toggle('show-arrows', arrows.length > 0, (on) => (arrowGroup.visible = on));
  toggle('show-grid', scene.grid, (on) => (floor.visible = on));
  get('bending').hidden = !curves.length;
  get('bending-scale').addEventListener('input', () => {
    exaggeration = 10 ** Number(get('bending-scale').value);
    get('bending-times').textContent = `${readable(Number(exaggeration.toPrecision(2)))} times`;
    place();
    dirty = true;
  });
  if (named.length > 30) get('show-labels').click();
  get('help').textContent = scene.planar ? 'drag: move · wheel: zoom · right drag: turn' : 'drag: turn · wheel: zoom · right drag: move';
  view.controls.addEventListener('change', () => (dirty = true));
  document.addEventListener('keydown', (event) => {
    if (event.target.matches('select, input:not([type=checkbox])') || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = span / Math.max(1, motion.times.length - 1);
    if (event.key === ' ' && !event.target.matches('button, input')) play(!playing);
    else if (event.key === 'f') view.fit();
    else if (event.key === 'ArrowRight') seek(Math.min(last, motion.time + step));
    else if (event.key === 'ArrowLeft') seek(Math.max(first, motion.time - step));
    else return;
    event.preventDefault();
  });
  new ResizeObserver(resize).observe(get('stage'));
}

const renderer = makeRenderer();
writeLegend();
fillSpeeds();
connect();
resize();
view.fit();
seek(first);
play(chapters.length > 0);
requestAnimationFrame(tick);
document.body.dataset.renderer = webgl ? 'webgl' : 'canvas';
window.viewer = { seek, play, time: () => motion.time, playing: () => playing };
