import StrataModel
import StrataSystem

@testable import StrataTree

/// Does everything to a page that trees do to pages, to find out whether ``PageCheck`` lets one through that they would
/// leave or trap on. The fuzz target has the same file; a page is given as it would come from a file.
package enum PageTrial {
    /// - Parameter input: a page; one that is too short is filled up with zeros. Its checksum is put right.
    /// - Returns: whether the page was accepted.
    @discardableResult
    package static func run(_ input: UnsafeRawBufferPointer) -> Bool {
        // Of their exact size and their own, so that the address sanitizer sees every step aside.
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: PageLayout.pageBytes, alignment: 8)
        defer { buffer.deallocate() }
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
        buffer.copyBytes(from: input.prefix(PageLayout.pageBytes))
        // Never empty: a page has 4,096 bytes.
        let editor = PageEditor(buffer.baseAddress!)
        editor.set(checksum: CRC32C.checksum(editor.page.bytes.dropping(PageLayout.number)))
        guard (try? PageCheck.check(editor.page, number: editor.page.number)) != nil else { return false }
        guard editor.page.kind == .leaf || editor.page.kind == .branch else {
            precondition(editor.page.count == 0, "nothing is read from a page of another kind as if it were an entry")
            return true
        }
        read(editor.page)
        rewrite(editor.page)
        change(editor)
        return true
    }

    private static func withKey(_ index: Int, of page: Page, _ body: (UnsafeRawBufferPointer) -> Void) {
        let key = UnsafeMutableRawBufferPointer.allocate(byteCount: PageLayout.maximumKeyBytes, alignment: 8)
        defer { key.deallocate() }
        body(page.copyKey(index, to: key))
    }

    /// Every key is found where it stands, and every value lies inside.
    private static func read(_ page: Page) {
        for index in 0..<page.count {
            withKey(index, of: page) { key in
                if page.isLeaf {
                    let found = page.search(leaf: key)
                    precondition(found.isFound && found.index == index, "a key is where it is")
                    let value = page.storedValue(index)
                    if value.isOverflow { _ = OverflowReference(value.bytes).run.range }
                    _ = CRC32C.checksum(value.bytes)
                } else if index > 0 {
                    precondition(page.search(branch: key) == index, "a key separates where it stands")
                }
            }
        }
    }

    /// The page as a split or a merge takes it apart and puts it together.
    private static func rewrite(_ page: Page) {
        let content = PageContent()
        content.start(level: page.level)
        content.append(page)
        let cut = page.count > 1 ? content.evenCut() : nil
        let target = UnsafeMutableRawBufferPointer.allocate(byteCount: PageLayout.pageBytes, alignment: 8)
        let separator = UnsafeMutableRawBufferPointer.allocate(byteCount: PageLayout.maximumKeyBytes, alignment: 8)
        defer {
            target.deallocate()
            separator.deallocate()
        }
        if let cut { _ = content.separator(at: cut, into: separator) }
        let halves = cut.map { [0..<$0, $0..<page.count] } ?? []
        for range in halves + [0..<page.count] where content.fits(range) {
            // Never empty: a page has 4,096 bytes.
            let made = PageEditor(target.baseAddress!)
            content.write(range, to: made.base, number: page.number, birth: page.birth)
            expectOrder(made.page)
        }
    }

    private static func expectOrder(_ page: Page) {
        guard page.count > 0 else { return }
        do {
            try PageCheck.checkLayout(page, number: page.number)
        } catch {
            preconditionFailure("a page that was changed is in order: \(error)")
        }
    }

    // MARK: Changes

    private static func change(_ editor: PageEditor) {
        if editor.page.isLeaf { changeLeaf(editor) } else { changeBranch(editor) }
        editor.clearGap()
        expectOrder(editor.page)
        while editor.page.count > 0 {
            editor.remove(editor.page.count / 2)
            if editor.page.isLeaf { expectOrder(editor.page) }
        }
    }

    private static func changeLeaf(_ editor: PageEditor) {
        let value = [UInt8](repeating: 0x76, count: PageLayout.maximumInlineBytes)
        value.withUnsafeBytes { value in
            for size in [0, 3, 200, PageLayout.maximumInlineBytes, 1] {
                for index in 0..<editor.page.count {
                    _ = editor.replace(leaf: index, .inline(value.keeping(size)))
                    addBehind(index, editor, value.keeping(index % 7))
                }
                expectOrder(editor.page)
            }
            _ = editor.replace(leaf: 0, .overflow(OverflowReference(first: 9, byteCount: 5_000)))
        }
        expectOrder(editor.page)
    }

    /// The key with a zero behind it is the very next one.
    private static func addBehind(_ index: Int, _ editor: PageEditor, _ value: UnsafeRawBufferPointer) {
        withKey(index, of: editor.page) { key in
            guard key.count < PageLayout.maximumKeyBytes else { return }
            let next = [UInt8](key) + [0]
            next.withUnsafeBytes { next in
                let found = editor.page.search(leaf: next)
                guard !found.isFound else { return }
                _ = editor.insert(leaf: found.index, suffix: next.dropping(editor.page.prefixBytes), .inline(value))
            }
        }
    }

    private static func changeBranch(_ editor: PageEditor) {
        for index in 1..<max(1, editor.page.count) {
            withKey(index, of: editor.page) { key in
                guard key.count < PageLayout.maximumKeyBytes else { return }
                let next = [UInt8](key) + [0]
                next.withUnsafeBytes { next in
                    let place = editor.page.search(branch: next)
                    let isThere = place != index
                    guard !isThere else { return }
                    _ = editor.insert(branch: index + 1, suffix: next.dropping(editor.page.prefixBytes), child: 7)
                }
            }
        }
        expectOrder(editor.page)
        if editor.page.count > 1 { editor.removeFirstChild() }
        expectOrder(editor.page)
        editor.set(child: 12, at: 0)
    }
}

extension PageEditor {
    /// Clears the bytes between slots and heap.
    fileprivate func clearGap() {
        let start = page.heapStart - page.freeBytes
        (base + start).initializeMemory(as: UInt8.self, repeating: 0, count: page.freeBytes)
    }
}
