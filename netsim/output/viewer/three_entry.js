// What the page needs of three.js; README.md says how three.bundle.js is made from this file.
export {
	BoxGeometry, BufferAttribute, BufferGeometry, CanvasTexture, Color, CylinderGeometry, DirectionalLight, EdgesGeometry, ExtrudeGeometry,
	Group, HemisphereLight, Line, LineBasicMaterial, LineSegments, Mesh, MeshLambertMaterial, MOUSE, OrthographicCamera, PerspectiveCamera, Points,
	PointsMaterial, Quaternion, Scene, Shape, Path, SphereGeometry, Vector3, WebGLRenderer,
} from 'three';
export { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
export { Line2 } from 'three/examples/jsm/lines/Line2.js';
export { LineGeometry } from 'three/examples/jsm/lines/LineGeometry.js';
export { LineMaterial } from 'three/examples/jsm/lines/LineMaterial.js';
export { Projector } from 'three/examples/jsm/renderers/Projector.js';
