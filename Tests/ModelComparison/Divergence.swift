/// A difference between the store and the plain model of its rules.
package struct Divergence: Error, CustomStringConvertible {
    package var description: String

    package init(description: String) { self.description = description }
}
