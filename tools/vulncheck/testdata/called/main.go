// Command called has a function of the standard library that the test's database knows.
package main

import "path"

func main() { _ = clean("a/../b") }

func clean(name string) string { return path.Clean(name) }
