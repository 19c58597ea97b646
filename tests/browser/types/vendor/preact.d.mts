export { Fragment, h, render } from 'preact';
