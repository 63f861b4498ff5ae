// The eye: camera and mouse, the view that fits everything, names at the bodies, the triad of axes.

class View {
  constructor(canvas, bounds, planar) {
    const [low, high] = bounds;
    this.planar = planar;
    this.centre = new THREE.Vector3((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2);
    this.corners = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => new THREE.Vector3(...[0, 1, 2].map((i) => ((k >> i) & 1 ? high : low)[i])));
    this.size = this.corners[0].distanceTo(this.corners[7]) || 1;
    this.camera = planar ? new THREE.OrthographicCamera() : new THREE.PerspectiveCamera(32);
    this.camera.up.set(0, 0, 1);
    this.controls = new THREE.OrbitControls(this.camera, canvas);
    this.controls.zoomToCursor = true;
    if (planar) this.controls.mouseButtons = { LEFT: THREE.MOUSE.PAN, MIDDLE: THREE.MOUSE.DOLLY, RIGHT: THREE.MOUSE.ROTATE };
    this.resize(canvas.clientWidth || 1, canvas.clientHeight || 1);
    this.from(planar ? [0, 0, 1] : [0.9, -1.3, 0.75]);
  }

  resize(width, height) {
    this.width = width;
    this.height = height;
    this.aspect = width / height;
    const { camera } = this;
    if (camera.isPerspectiveCamera) camera.aspect = this.aspect;
    else Object.assign(camera, { left: -this.aspect * this.half || -1, right: this.aspect * this.half || 1, top: this.half || 1, bottom: -this.half || -1 });
    camera.updateProjectionMatrix();
  }

  // Look along -direction at everything.
  from(direction) {
    const { camera, controls } = this;
    controls.target.copy(this.centre);
    camera.position.copy(this.centre).addScaledVector(new THREE.Vector3(...direction).normalize(), 10 * this.size);
    controls.update();
    this.fit();
  }

  // Everything, seen from where the camera looks now.
  fit() {
    const { camera, controls } = this;
    const back = new THREE.Vector3().subVectors(camera.position, controls.target).normalize();
    camera.updateMatrixWorld();
    const turn = camera.quaternion.clone().invert();
    const seen = this.corners.map((c) => c.clone().sub(this.centre).applyQuaternion(turn));
    const margin = 1.16;
    let distance = 10 * this.size;
    if (camera.isPerspectiveCamera) {
      const high = Math.tan((camera.fov * Math.PI) / 360);
      const needed = seen.map((c) => c.z + margin * Math.max(Math.abs(c.y) / high, Math.abs(c.x) / (high * this.aspect)));
      distance = Math.max(0.6 * this.size, ...needed);
    } else {
      this.half = margin * Math.max(0.05 * this.size, ...seen.map((c) => Math.max(Math.abs(c.y), Math.abs(c.x) / this.aspect)));
      camera.zoom = 1;
      this.resize(this.width, this.height);
    }
    controls.target.copy(this.centre);
    camera.position.copy(this.centre).addScaledVector(back, distance);
    controls.update();
  }

  // Carry the eye along with a body.
  move(by) {
    this.camera.position.add(by);
    this.controls.target.add(by);
    this.controls.update();
  }

  prepare() {
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.camera.near = this.planar ? -50 * this.size : Math.max(distance / 200, 1e-3 * this.size);
    this.camera.far = distance + 50 * this.size;
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld();
  }

  // Pixels of a point, null behind the eye.
  pixels(point) {
    const p = View.seen.copy(point).project(this.camera);
    return Math.abs(p.z) < 1 ? [((p.x + 1) / 2) * this.width, ((1 - p.y) / 2) * this.height] : null;
  }

  triad(canvas) {
    const pen = canvas.getContext('2d');
    const turn = this.camera.quaternion.clone().invert();
    const axes = [['x', '#c62828'], ['y', '#2e7d32'], ['z', '#1f5fa8']].map(([name, colour], k) => {
      return { name, colour, at: new THREE.Vector3().setComponent(k, 1).applyQuaternion(turn) };
    });
    pen.setTransform(2, 0, 0, 2, 92, 92);
    pen.clearRect(-46, -46, 92, 92);
    pen.font = '600 13px system-ui, "DejaVu Sans", sans-serif';
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    pen.lineCap = 'round';
    for (const { name, colour, at } of axes.sort((a, b) => a.at.z - b.at.z)) {
      pen.strokeStyle = pen.fillStyle = colour;
      pen.lineWidth = 2.5;
      pen.beginPath();
      pen.moveTo(0, 0);
      pen.lineTo(27 * at.x, -27 * at.y);
      pen.stroke();
      const length = Math.hypot(at.x, at.y);
      if (length < 0.05) {
        pen.beginPath();
        pen.arc(0, 0, 3, 0, 7);
        pen.fill();
        pen.fillText(name, -11, 11);
      } else {
        const reach = 27 + 11 / Math.max(length, 0.4);
        pen.fillText(name, reach * at.x, -reach * at.y);
      }
    }
  }
}
View.seen = new THREE.Vector3();
