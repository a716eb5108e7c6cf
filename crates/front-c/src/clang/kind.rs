//! The kinds of clang's AST nodes.
//!
//! The list has the kinds that are used here and those that are frequent in headers, most frequent first: lookup is
//! linear. Any other kind is [`Other`](NodeKind::Other) with its name.
//!
//! Deliberately not here: the meaning of a kind.

use super::ast_enums::{names, words};

names! {
    /// The kind of a node, with clang's class name.
    NodeKind {
        ImplicitCastExpr,
        DeclRefExpr,
        ParmVarDecl,
        FunctionDecl,
        IntegerLiteral,
        BinaryOperator,
        VarDecl,
        CallExpr,
        MemberExpr,
        ParenExpr,
        UnaryOperator,
        TypedefDecl,
        NoThrowAttr,
        BuiltinAttr,
        BuiltinType,
        RecordDecl,
        CompoundStmt,
        FieldDecl,
        IfStmt,
        ReturnStmt,
        RecordType,
        CStyleCastExpr,
        NonNullAttr,
        EnumConstantDecl,
        DeclStmt,
        ElaboratedType,
        PointerType,
        TypedefType,
        ConstAttr,
        ConstantArrayType,
        ArraySubscriptExpr,
        StringLiteral,
        PureAttr,
        FormatAttr,
        ConstantExpr,
        CharacterLiteral,
        InitListExpr,
        UnaryExprOrTypeTraitExpr,
        ConditionalOperator,
        CompoundAssignOperator,
        ImplicitValueInitExpr,
        GenericSelectionExpr,
        CompoundLiteralExpr,
        StmtExpr,
        PredefinedExpr,
        OffsetOfExpr,
        SwitchStmt,
        ChooseExpr,
        DefaultStmt,
        ForStmt,
        WhileStmt,
        CaseStmt,
        FloatingLiteral,
        LabelStmt,
        BinaryConditionalOperator,
        BreakStmt,
        DoStmt,
        VAArgExpr,
        AtomicExpr,
        AttributedStmt,
        NullStmt,
        AlignedAttr,
        CXXBoolLiteralExpr,
        CXXMemberCallExpr,
        ContinueStmt,
        GotoStmt,
        OpaqueValueExpr,
        CXXMethodDecl,
        CXXNullPtrLiteralExpr,
        CXXThisExpr,
        EnumDecl,
        GCCAsmStmt,
        GNUNullExpr,
        ImaginaryLiteral,
        IndirectGotoStmt,
        MSAsmStmt,
        PackedAttr,
        ShuffleVectorExpr,
        TypeTraitExpr,
        AddrLabelExpr,
        CXXConstructExpr,
        ConvertVectorExpr,
        AliasAttr,
        AsmLabelAttr,
        CXXBindTemporaryExpr,
        CXXConstCastExpr,
        CXXReinterpretCastExpr,
        CXXStaticCastExpr,
        ConstructorAttr,
        DestructorAttr,
        EnumType,
        ExprWithCleanups,
        ExtVectorElementExpr,
        FullComment,
        MaterializeTemporaryExpr,
        MaxFieldAlignmentAttr,
        TypeOfExprType,
        WeakAttr,
        WeakRefAttr,
        C11NoReturnAttr,
        // Not a class of clang: an `offsetof` with the member's address, put there by a macro, as its only child. The
        // children of a plain `OffsetOfExpr` are the indices of its path.
        SpelledOffset,
    }
}

/// Categories by the suffix of clang's class names, which also covers unknown kinds.
impl NodeKind {
    fn ends_with(&self, suffix: &str) -> bool {
        self.word().ends_with(suffix)
    }
    /// Returns true for an absent child.
    pub fn is_absent(&self) -> bool {
        *self == NodeKind::Absent
    }
    /// Returns true for an expression.
    pub fn is_expression(&self) -> bool {
        self.ends_with("Expr") || self.ends_with("Operator") || self.ends_with("Literal")
    }
    /// Returns true for a statement that is no expression.
    pub fn is_statement(&self) -> bool {
        self.ends_with("Stmt")
    }
    /// Returns true for a declaration.
    pub fn is_declaration(&self) -> bool {
        self.ends_with("Decl")
    }
    /// Returns true for the declaration of a variable or parameter.
    pub fn is_variable(&self) -> bool {
        self.ends_with("VarDecl")
    }
    /// Returns true for an attribute.
    pub fn is_attribute(&self) -> bool {
        self.ends_with("Attr")
    }
    /// Returns true for a type.
    pub fn is_type(&self) -> bool {
        self.ends_with("Type")
    }
    /// Returns true for a documentation comment.
    pub fn is_comment(&self) -> bool {
        self.ends_with("Comment")
    }
}
