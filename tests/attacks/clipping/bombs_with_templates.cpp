// Twice as many instances with each step, far below the limit of depth.
template <int depth, int path>
struct Node {
  Node<depth - 1, 2 * path> left;
  Node<depth - 1, 2 * path + 1> right;
};
template <int path>
struct Node<0, path> {};
Node<26, 1> root;
