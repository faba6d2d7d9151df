/// A page on the path from a root to a leaf.
struct PathStep {
    var number: PageNumber
    var base: UnsafeMutableRawPointer
    /// The index of the child that the path takes, in a branch.
    var index: Int

    var editor: PageEditor { PageEditor(base) }
    @inline(__always)
    var page: Page { Page(UnsafeRawPointer(base)) }
}

/// The pages from a root to a leaf, in memory that is allocated once.
final class TreePath {
    /// Sufficient because full branches have at least four children.
    private static let capacity = PageLayout.maximumLevels

    private let steps = UnsafeMutablePointer<PathStep>.allocate(capacity: capacity)
    private(set) var count = 0

    deinit { steps.deallocate() }

    func removeAll() { count = 0 }

    func append(_ step: PathStep) {
        precondition(count < Self.capacity, "a tree cannot have so many levels")
        (steps + count).initialize(to: step)
        count += 1
    }

    @inline(__always)
    subscript(index: Int) -> PathStep {
        precondition(index >= 0 && index < count, "the index is outside the path")
        return steps[index]
    }

    func set(index: Int, at place: Int) {
        precondition(place >= 0 && place < count, "the index is outside the path")
        steps[place].index = index
    }

    var last: PathStep? { count > 0 ? steps[count - 1] : nil }

    func popLast() -> PathStep? {
        guard count > 0 else { return nil }
        count -= 1
        return steps[count]
    }

    /// True if all steps but the last take the last child of their page.
    var isRightmost: Bool { (0..<max(0, count - 1)).allSatisfy { steps[$0].index == steps[$0].page.count - 1 } }
}
