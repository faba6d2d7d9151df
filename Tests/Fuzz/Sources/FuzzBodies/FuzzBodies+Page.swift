import StrataTree

extension FuzzBodies {
    /// Any bytes as a page of a tree, with its checksum put right: what the check accepts can be read and changed
    /// without a trap or a look outside of it, and is still in order afterwards.
    ///
    /// - Returns: whether the page was accepted.
    @discardableResult
    public static func page(_ input: UnsafeRawBufferPointer) -> Bool { PageTrial.run(input) }
}
