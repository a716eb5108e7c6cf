//! The kinds of clang's nodes, as a type.
//!
//! Kinds that somebody asks for, and those that headers are full of. The most frequent come first: that is the order in which
//! a word is looked up. Any other kind is [`Other`](NodeKind::Other) and carries its name.
//!
//! Deliberately not here: what a node of a kind means.

use super::ast_enums::{names, words};

names! {
    /// The kind of a node, called as clang calls it.
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
        // Ours: what an `offsetof` becomes whose macro puts the member's address beside it, which is its only child. A plain
        // one has the indices of its path as children.
        SpelledOffset,
    }
}

/// clang names its classes by what they are, the unknown ones, too.
impl NodeKind {
    fn ends_with(&self, suffix: &str) -> bool {
        self.word().ends_with(suffix)
    }
    /// No kind: the child is absent.
    pub fn is_absent(&self) -> bool {
        *self == NodeKind::Absent
    }
    /// An expression, and not a statement or a declaration.
    pub fn is_expression(&self) -> bool {
        self.ends_with("Expr") || self.ends_with("Operator") || self.ends_with("Literal")
    }
    /// A statement that is no expression.
    pub fn is_statement(&self) -> bool {
        self.ends_with("Stmt")
    }
    /// A declaration.
    pub fn is_declaration(&self) -> bool {
        self.ends_with("Decl")
    }
    /// The declaration of a variable or parameter.
    pub fn is_variable(&self) -> bool {
        self.ends_with("VarDecl")
    }
    /// An attribute.
    pub fn is_attribute(&self) -> bool {
        self.ends_with("Attr")
    }
    /// A type.
    pub fn is_type(&self) -> bool {
        self.ends_with("Type")
    }
    /// A comment for documentation.
    pub fn is_comment(&self) -> bool {
        self.ends_with("Comment")
    }
}
