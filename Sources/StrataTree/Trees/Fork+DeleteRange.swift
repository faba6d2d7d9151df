extension Fork {
    /// Deletes all keys from `lower` up to, but not including, `upper`; nil means no bound on that side.
    ///
    /// Pages that are entirely inside the range are released without being copied.
    package func deleteRange(
        _ id: TreeID, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?
    ) throws {
        try requireOpen()
        if let lower, let upper, Bytes.compare(lower, upper) >= 0 { return }
        guard roots[id].page != 0 || !below.isEmpty else { return }
        try changing(id) { root in
            if !below.isEmpty {
                let range = DeletedRange(
                    tree: id, lower: lower.map { Array($0) } ?? [], upper: upper.map { Array($0) } ?? [])
                // The only reference, so that the ranges are not copied.
                roots[id].deleted = DeletedRanges()
                root.deleted.insert(range)
                generation.noteRange(range)
            }
            if root.page != 0 { try cut(&root, lower, upper) }
        }
    }

    private func cut(
        _ root: inout TreeRoot, _ lower: UnsafeRawBufferPointer?, _ upper: UnsafeRawBufferPointer?
    ) throws {
        if let page = try trim(root.page, from: lower, to: upper) {
            root.page = page
        } else {
            (root.page, root.level) = (0, 0)
        }
        // The pages on either side of the cut may have become sparse.
        for edge in [lower, upper] {
            guard root.page != 0, let edge else { continue }
            try descend(&root, to: edge)
            try settle(&root, everyLevel: true)
        }
    }

    /// Trims a subtree; returns nil if nothing remains of it.
    private func trim(
        _ number: PageNumber, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?
    ) throws -> PageNumber? {
        let page = generation.page(number)
        if lower == nil, upper == nil {
            drop(number, page)
            return nil
        }
        if page.isLeaf { return try trimLeaf(number, page, from: lower, to: upper) }
        let first = lower.map { page.search(branch: $0) } ?? 0
        let last = upper.map { page.search(branch: $0) } ?? page.count - 1
        let own = try ownCopy(number, page)
        var left: [Int] = []
        for index in first...last {
            let child = own.page.child(index)
            let kept = try trim(child, from: index == first ? lower : nil, to: index == last ? upper : nil)
            if let kept { own.editor.set(child: kept, at: index) } else { left.append(index) }
        }
        for index in left.reversed() {
            if index == 0, own.page.count > 1 { own.editor.removeFirstChild() } else { own.editor.remove(index) }
        }
        if own.page.count > 0 { return own.number }
        retire(own.number, birth: epoch)
        return nil
    }

    private func trimLeaf(
        _ number: PageNumber, _ page: Page, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?
    ) throws -> PageNumber? {
        let first = lower.map { page.search(leaf: $0).index } ?? 0
        let end = upper.map { page.search(leaf: $0).index } ?? page.count
        guard first < end else { return number }
        if first == 0, end == page.count {
            drop(number, page)
            return nil
        }
        let own = try ownCopy(number, page)
        for index in (first..<end).reversed() { own.editor.remove(index) }
        return own.number
    }

    /// The page itself if it belongs to this fork, otherwise a copy that replaces it.
    func ownCopy(_ number: PageNumber, _ page: Page) throws -> PathStep {
        if page.birth == epoch { return PathStep(number: number, base: generation.address(number), index: 0) }
        let own = try newPage()
        PageEditor(own.base).copy(page, birth: epoch)
        retire(number, birth: page.birth)
        return PathStep(number: own.number, base: own.base, index: 0)
    }

    /// Releases a page and all pages below it.
    private func drop(_ number: PageNumber, _ page: Page) {
        if !page.isLeaf {
            for index in 0..<page.count { drop(page.child(index), generation.page(page.child(index))) }
        }
        retire(number, birth: page.birth)
    }
}
