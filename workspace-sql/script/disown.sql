-- The role is the login's own again; it was wf_owner for the installation only.

set local role :"installer";
\if :lent
    revoke wf_owner from :"installer";
\endif
