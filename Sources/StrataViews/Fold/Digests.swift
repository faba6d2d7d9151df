/// The two digests of a store, or the contribution of an entry to them.
package struct Digests: Sendable, Hashable {
    package var state: UInt128
    package var content: UInt128

    package init(state: UInt128 = 0, content: UInt128 = 0) {
        self.state = state
        self.content = content
    }

    static func += (left: inout Digests, right: Digests) {
        left.state &+= right.state
        left.content &+= right.content
    }

    static func -= (left: inout Digests, right: Digests) {
        left.state &-= right.state
        left.content &-= right.content
    }
}
