// What is drawn: bodies with their edges, links, arrows, paths, the grid. `webgl` false: only what the painter understands.

const X = new THREE.Vector3(1, 0, 0);

function darker(colour, factor = 0.55) {
  return new THREE.Color(colour).multiplyScalar(factor);
}

function paler(colour, part = 0.72) {
  return new THREE.Color(colour).lerp(new THREE.Color('#eef2f6'), part);
}

function segments(points, colour) {
  const geometry = new THREE.BufferGeometry().setFromPoints(points);
  return new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ color: colour }));
}

// A line through points [x, y, z, x, y, z ...], `width` pixels wide.
function polyline(points, colour, width, webgl) {
  if (webgl) {
    const geometry = new THREE.LineGeometry();
    geometry.setPositions(points);
    const drawn = new THREE.Line2(geometry, new THREE.LineMaterial({ color: colour, linewidth: width }));
    drawn.frustumCulled = false;
    return drawn;
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(points), 3));
  const drawn = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: colour, linewidth: width }));
  drawn.frustumCulled = false;
  return drawn;
}

function solid(geometry, colour) {
  const material = new THREE.MeshLambertMaterial({ color: colour, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
  return new THREE.Mesh(geometry, material);
}

function circle(radius, at, axis, count = 48) {
  const points = [];
  const turned = (k) => {
    const c = radius * Math.cos((2 * Math.PI * k) / count);
    const s = radius * Math.sin((2 * Math.PI * k) / count);
    return { x: new THREE.Vector3(at, c, s), y: new THREE.Vector3(c, at, s), z: new THREE.Vector3(c, s, at) }[axis];
  };
  for (let k = 0; k < count; k++) points.push(turned(k), turned(k + 1));
  return points;
}

// Outline of a cylinder along x: the rims, a line along it and across its faces, which show how it turns.
function cylinderEdges(length, radius, inner) {
  const points = [];
  for (const x of [-length / 2, length / 2]) {
    points.push(...circle(radius, x, 'x'), ...(inner ? circle(inner, x, 'x') : []));
    points.push(new THREE.Vector3(x, inner, 0), new THREE.Vector3(x, radius, 0));
  }
  points.push(new THREE.Vector3(-length / 2, radius, 0), new THREE.Vector3(length / 2, radius, 0));
  return points;
}

function tube(length, radius, inner) {
  const ring = new THREE.Shape().absarc(0, 0, radius, 0, 2 * Math.PI, false);
  ring.holes.push(new THREE.Path().absarc(0, 0, inner, 0, 2 * Math.PI, true));
  const geometry = new THREE.ExtrudeGeometry(ring, { depth: length, bevelEnabled: false, curveSegments: 32 });
  return geometry.translate(0, 0, -length / 2).rotateY(Math.PI / 2);
}

// Draw a thing over all that is drawn before it.
function inFront(thing, order) {
  thing.traverse((part) => {
    if (!part.material) return;
    part.material.depthTest = false;
    part.renderOrder = order;
  });
}

let disc = null;
function dot(colour, size) {
  if (!disc) {
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = 64;
    const pen = canvas.getContext('2d');
    pen.fillStyle = '#fff';
    pen.arc(32, 32, 30, 0, 7);
    pen.fill();
    disc = new THREE.CanvasTexture(canvas);
  }
  const geometry = new THREE.BufferGeometry().setFromPoints([new THREE.Vector3()]);
  const drawn = new THREE.Points(geometry, new THREE.PointsMaterial({ color: colour, size, sizeAttenuation: false, map: disc, alphaTest: 0.5 }));
  inFront(drawn, 8); // markers are often inside of bodies
  drawn.frustumCulled = false;
  return drawn;
}

const KINDS = {
  box(shape) {
    const geometry = new THREE.BoxGeometry(...shape.size);
    const edges = new THREE.LineSegments(new THREE.EdgesGeometry(geometry), new THREE.LineBasicMaterial({ color: darker(shape.colour) }));
    return [solid(geometry, shape.colour), edges];
  },
  cylinder(shape, webgl) {
    const [length, radius] = shape.size;
    const geometry = new THREE.CylinderGeometry(radius, radius, length, webgl ? 48 : 20).rotateZ(-Math.PI / 2);
    return [solid(geometry, shape.colour), segments(cylinderEdges(length, radius, 0), darker(shape.colour))];
  },
  tube(shape) {
    return [solid(tube(...shape.size), shape.colour), segments(cylinderEdges(...shape.size), darker(shape.colour))];
  },
  sphere(shape, webgl) {
    const [radius] = shape.size;
    const circles = ['x', 'y', 'z'].flatMap((axis) => circle(radius * 1.003, 0, axis));
    const body = solid(new THREE.SphereGeometry(radius, webgl ? 40 : 14, webgl ? 24 : 10), shape.colour);
    return [body, segments(circles, darker(shape.colour, 0.75))];
  },
  line(shape, webgl) {
    return [polyline(shape.points.flat(), shape.colour, 3, webgl)];
  },
  point(shape) {
    return [dot(shape.colour, 9)];
  },
};

function body(frame, webgl) {
  const group = new THREE.Group();
  for (const shape of frame.shapes) {
    const placed = new THREE.Group();
    placed.add(...KINDS[shape.kind](shape, webgl));
    placed.position.set(...shape.position);
    const [w, x, y, z] = shape.rotation;
    placed.quaternion.set(x, y, z, w).normalize();
    group.add(placed);
  }
  return group;
}

// Lay a thing that reaches from 0 to 1 on the x axis between two points; its width stays.
function stretch(thing, start, end) {
  const along = stretch.along.subVectors(end, start);
  const length = along.length();
  thing.visible = length > 0;
  thing.position.copy(start);
  thing.scale.set(Math.max(length, 1e-30), 1, 1);
  if (length > 0) thing.quaternion.setFromUnitVectors(X, along.divideScalar(length));
  return length;
}
stretch.along = new THREE.Vector3();

// Reaches from 0 to 1 on the x axis, to be stretched.
function linkBetween(link, size, webgl) {
  const group = new THREE.Group();
  if (link.kind === 'spring') {
    const radius = link.width / 2 || 0.022 * size;
    const points = [0, 0, 0];
    for (let k = 0; k <= 160; k++) {
      const turn = (2 * Math.PI * 10 * k) / 160;
      points.push(0.12 + (0.76 * k) / 160, radius * Math.sin(turn), radius * Math.cos(turn) * (k === 0 || k === 160 ? 0 : 1));
    }
    points.push(1, 0, 0);
    group.add(polyline(points, link.colour, 2.2, webgl));
  } else if (link.kind === 'damper') {
    const radius = link.width / 2 || 0.018 * size;
    const cylinder = solid(new THREE.CylinderGeometry(radius, radius, 0.4, webgl ? 32 : 12).rotateZ(-Math.PI / 2).translate(0.42, 0, 0), paler(link.colour, 0.35));
    group.add(cylinder, polyline([0, 0, 0, 1, 0, 0], link.colour, 2.2, webgl));
  } else if (link.width > 0) {
    const radius = link.width / 2;
    group.add(solid(new THREE.CylinderGeometry(radius, radius, 1, webgl ? 24 : 10).rotateZ(-Math.PI / 2).translate(0.5, 0, 0), link.colour));
  } else {
    group.add(polyline([0, 0, 0, 1, 0, 0], link.colour, 2.5, webgl));
  }
  return group;
}

class ForceArrow {
  constructor(colour, size, webgl) {
    const sides = webgl ? 24 : 8;
    this.head = 0.045 * size;
    this.object = new THREE.Group();
    this.shaft = solid(new THREE.CylinderGeometry(0.006 * size, 0.006 * size, 1, sides).rotateZ(-Math.PI / 2).translate(0.5, 0, 0), colour);
    this.tip = solid(new THREE.CylinderGeometry(0, 0.016 * size, this.head, sides).rotateZ(-Math.PI / 2).translate(-this.head / 2, 0, 0), colour);
    this.object.add(this.shaft, this.tip);
    this.end = new THREE.Vector3();
  }

  place(origin, vector, scale) {
    const length = vector.length() * scale;
    this.object.visible = length > 1e-3 * this.head;
    if (!this.object.visible) return;
    const head = Math.min(this.head, 0.5 * length);
    this.end.copy(vector).normalize();
    this.object.quaternion.setFromUnitVectors(X, this.end);
    this.object.position.copy(origin);
    this.shaft.scale.x = length - head;
    this.tip.position.x = length;
    this.tip.scale.setScalar(head / this.head);
  }
}

// A path: pale where it will go, strong up to the present instant.
class TracePath {
  constructor(points, colour, webgl) {
    this.points = points;
    this.count = points.length / 3;
    this.object = new THREE.Group();
    this.last = -1;
    if (this.count < 2) return;
    this.whole = polyline(points, paler(colour), 1.5, webgl);
    this.done = polyline(points, colour, 2.5, webgl);
    this.object.add(this.whole, this.done);
  }

  show(index, tip) {
    if (this.count < 2) return;
    const { geometry } = this.done;
    if (geometry.isLineGeometry) this.cut(geometry, Math.min(index, this.count - 2), tip);
    else this.gather(geometry.attributes.position, index, tip);
  }

  // Segments of a fat line are instances (start, end): the last one shown ends at the present point.
  cut(geometry, index, tip) {
    const { data } = geometry.attributes.instanceStart;
    if (this.last >= 0) data.array.set(this.points.subarray(3 * this.last + 3, 3 * this.last + 6), 6 * this.last + 3);
    data.array.set([tip.x, tip.y, tip.z], 6 * index + 3);
    data.needsUpdate = true;
    geometry.instanceCount = index + 1;
    this.last = index;
  }

  gather(positions, index, tip) {
    for (let k = 0; k < this.count; k++) {
      if (k <= index) positions.array.set(this.points.subarray(3 * k, 3 * k + 3), 3 * k);
      else positions.array.set([tip.x, tip.y, tip.z], 3 * k);
    }
    positions.needsUpdate = true;
  }
}

// 1, 2 or 5 times a power of ten, not below x.
function roundUp(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return [1, 2, 5, 10].map((k) => k * power).find((k) => k >= x * 0.999999);
}

function grid(bounds, size, planar, height) {
  const [low, high] = bounds;
  const step = roundUp(size / 20);
  const margin = planar ? 1.5 * size : 0.35 * size;
  const from = [0, 1].map((k) => Math.floor((low[k] - margin) / step));
  const to = [0, 1].map((k) => Math.ceil((high[k] + margin) / step));
  const lines = { plain: [], fifth: [], zero: [] };
  const kind = (k) => (k === 0 ? lines.zero : k % 5 === 0 ? lines.fifth : lines.plain);
  const point = (i, j) => new THREE.Vector3(i * step, j * step, height);
  for (let i = from[0]; i <= to[0]; i++) kind(i).push(point(i, from[1]), point(i, to[1]));
  for (let j = from[1]; j <= to[1]; j++) kind(j).push(point(from[0], j), point(to[0], j));
  const group = new THREE.Group();
  const drawn = [[lines.plain, '#dfe5ea'], [lines.fifth, '#c9d2da'], [lines.zero, '#9aa7b3']];
  drawn.forEach(([points, colour], k) => {
    const part = segments(points, colour);
    part.material.depthWrite = false;
    part.material.depthTest = !planar;
    part.renderOrder = k - 10;
    group.add(part);
  });
  group.userData.step = step;
  return group;
}

// A bent line: points on its straight shape plus `times` what they are away from it, both read from the motion.
class BentCurve {
  constructor(curve, webgl) {
    Object.assign(this, curve);
    this.webgl = webgl;
    this.places = new Float32Array(curve.bent[2]);
    this.object = polyline(this.places, curve.colour, 5, webgl);
  }

  place(motion, times) {
    const at = ([first, rows, width]) => [first + width * Math.min(motion.index, rows - 1), first + width * Math.min(motion.index + 1, rows - 1)];
    const [s0, s1] = at(this.straight);
    const [b0, b1] = at(this.bent);
    const x = motion.block;
    for (let k = 0; k < this.places.length; k++) {
      const straight = x[s0 + k] + motion.part * (x[s1 + k] - x[s0 + k]);
      this.places[k] = straight + times * (x[b0 + k] + motion.part * (x[b1 + k] - x[b0 + k]) - straight);
    }
    const { geometry } = this.object;
    if (this.webgl) geometry.setPositions(this.places);
    else {
      geometry.attributes.position.array.set(this.places);
      geometry.attributes.position.needsUpdate = true;
    }
  }
}
